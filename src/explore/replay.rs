//! A script, step by step.

use super::drain::Drained;
use super::protocol::Protocol;
use super::walker::{Moment, Walker};
use std::ops::ControlFlow;

/// What comes after the last step of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tail {
    /// Nothing.
    Stop,
    /// A drain of at most so many steps.
    Drain {
        /// The bound against livelock.
        bound: usize,
    },
}

/// How a replay went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Replayed {
    /// Steps of the script that were taken.
    pub taken: usize,
    /// Steps that were not enabled, and left out.
    pub skipped: usize,
    /// How the drain went, if there was one.
    pub drained: Option<Drained>,
    /// Whether the observer ended it.
    pub stopped: bool,
}

/// Takes the steps of a script from the initial state. Those that are not enabled are skipped and counted, so that any
/// sequence of steps is a script: cut, mutated, or recorded with another version of the protocol.
pub fn replay<P: Protocol>(
    protocol: &P,
    script: &[P::Step],
    tail: Tail,
    mut observe: impl FnMut(Moment<'_, P>) -> ControlFlow<()>,
) -> Replayed {
    let mut walker = Walker::new(protocol);
    let mut replayed = Replayed::default();
    for (index, step) in script.iter().enumerate() {
        let flow = if walker.enabled().contains(step) {
            walker.take(step);
            replayed.taken += 1;
            let Walker { state, violations, .. } = &walker;
            observe(Moment::Step { index: Some(index), step, state, violations })
        } else {
            replayed.skipped += 1;
            observe(Moment::Skipped { index, step })
        };
        if flow.is_break() {
            replayed.stopped = true;
            return replayed;
        }
    }
    if let Tail::Drain { bound } = tail {
        let drained = walker.drain(bound, observe);
        replayed.stopped = drained.stopped;
        replayed.drained = Some(drained);
    }
    replayed
}
