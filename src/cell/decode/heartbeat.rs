//! `HeartbeatChecker` (protocol 3.4): notices that prefill has died.

use crate::cell::room::Poll;
use crate::cell::world::{Ctx, Probe};
use crate::platform::{Platform, Shared};

/// The second health check in a row fails: every room that is known here fails, unless it is Success.
pub fn beat<P: Platform, T: Probe>(ctx: &mut Ctx<'_, P, T>) {
    for shared in &ctx.world.decode {
        shared.rooms.with(|rooms| {
            for (_, status) in rooms.iter_mut() {
                if *status != Poll::Success {
                    *status = Poll::Failed;
                }
            }
        });
    }
}
