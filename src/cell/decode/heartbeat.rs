//! `HeartbeatChecker` (protocol 3.4): notices that prefill has died.

use crate::cell::room::{Poll, RoomKey};
use crate::cell::world::{Ctx, Probe};
use crate::few::Few;
use crate::platform::{Platform, Shared};

/// The second health check in a row fails: every room that is known here fails, unless it is Success. Each is looked
/// at, and then failed.
pub fn beat<P: Platform, T: Probe>(ctx: &mut Ctx<'_, P, T>) {
    for shared in &ctx.world.decode {
        let known: Few<RoomKey, 2> = shared.rooms.with(|rooms| rooms.keys().collect());
        for key in known {
            shared.in_one_go(ctx.config, || {
                if !matches!(shared.status(key), None | Some(Poll::Success)) {
                    shared.update_status(key, Poll::Failed, ctx.config);
                }
            });
        }
    }
}
