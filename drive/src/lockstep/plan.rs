//! What is done with an engine, and when it is looked at: a script, and every fair step behind it.

use pagefence::cell::Step;
use pagefence::explore::{DRAIN_BOUND, Moment, Quiet, Serving, Tail, replay};
use std::fmt;
use std::ops::ControlFlow;

/// A step, or a look at what has come to rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// A step of the script, or of what follows by itself.
    Step(Step),
    /// Nothing moves any more: what is unfinished is stuck, and what is not free has leaked.
    Rest(Quiet),
}

impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Step(step) => step.fmt(f),
            Self::Rest(Quiet::TimersPending) => f.write_str("at rest but for timers"),
            Self::Rest(Quiet::Final) => f.write_str("at rest"),
        }
    }
}

/// A script and every fair step until nothing is left to do behind it, as the cell takes them. Steps that the cell does not have
/// at their turn are left out.
#[must_use]
pub fn drained(serving: &Serving, script: &[Step]) -> Vec<Move> {
    let mut plan = Vec::new();
    replay(serving, script, Tail::Drain { bound: DRAIN_BOUND }, |moment| {
        match moment {
            Moment::Step { step, .. } => plan.push(Move::Step(*step)),
            Moment::Rest { quiet, .. } => plan.push(Move::Rest(quiet)),
            Moment::Skipped { .. } => {}
        }
        ControlFlow::Continue(())
    });
    plan
}
