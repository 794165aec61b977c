//! Connections that bring messages at their own pace.
//!
//! A listener has one thread and hears several connections, and nothing orders two of them: a message of one may be on
//! its way while many come over another. Who listens would otherwise take from each in turn, and that is an order.

use super::{Actor, Shift};
use crate::cell::world::{Lane, World};
use crate::platform::{Shared, Threads};

/// The connections that somebody acts for, and how many of the messages that wait on each have arrived.
pub(super) struct Connections<P: Threads>(Vec<(Lane, P::Cell<u8>)>);

impl<P: Threads> Connections<P> {
    /// Those that have a shift.
    pub(super) fn new(shifts: &[Shift]) -> Self {
        let connection = |shift: &Shift| match shift.actor {
            Actor::Connection(lane) => Some((lane, Shared::new(0))),
            _ => None,
        };
        Self(shifts.iter().filter_map(connection).collect())
    }

    fn arrived(&self, lane: Lane) -> Option<&P::Cell<u8>> {
        self.0.iter().find(|connection| connection.0 == lane).map(|connection| &connection.1)
    }

    /// One more of the messages that wait on `lane` arrives; returns whether there was one.
    pub(super) fn bring(&self, lane: Lane, world: &World<P>) -> bool {
        let Some(arrived) = self.arrived(lane) else { return false };
        let sent = world.waiting(lane);
        arrived.with(|arrived| {
            let more = usize::from(*arrived) < sent;
            *arrived += u8::from(more);
            more
        })
    }

    /// Lets `listen` take a message from `lane` if one has arrived; returns whether it did. Where nobody acts for the
    /// connection, a message is there as soon as it is sent. It counts as arrived until it is out of the lane, so that none
    /// arrives twice.
    pub(super) fn take(&self, lane: Lane, listen: impl FnOnce() -> bool) -> bool {
        let Some(arrived) = self.arrived(lane) else { return listen() };
        if arrived.with(|arrived| *arrived) == 0 {
            return false;
        }
        let taken = listen();
        arrived.with(|arrived| *arrived -= 1);
        taken
    }
}
