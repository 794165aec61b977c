//! The accesses that hang over the watched slots, as intervals of steps.

use super::timeline::{Direction, Lane, Timeline, TimelineStep};
use crate::lifetime::{Event, Life, OpId};

/// One access to watched slots, from the step that posted it to the step that settled it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Flight {
    pub(super) op: OpId,
    pub(super) life: Life,
    /// Whether it takes bytes from a watched slot.
    pub(super) reads: bool,
    /// The first watched slot that it puts bytes into.
    pub(super) writes: Option<usize>,
    /// Index of the first step after which it is live.
    pub(super) from: usize,
    /// Index of the first step after which it no longer is; absent when it outlives the timeline.
    pub(super) until: Option<usize>,
}

/// Every access to a watched slot, in the order in which they were posted.
pub(super) fn flights(timeline: &Timeline) -> Vec<Flight> {
    let mut all: Vec<Flight> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    for (at, step) in timeline.steps.iter().enumerate() {
        let live = |f: &Flight| step.slots.iter().any(|s| s.in_flight.iter().any(|x| x.op == f.op));
        open.retain(|&i| {
            let keep = live(&all[i]);
            if !keep {
                all[i].until = Some(at);
            }
            keep
        });
        for (slot, state) in step.slots.iter().enumerate() {
            for access in &state.in_flight {
                let known = open.iter().copied().find(|&i| all[i].op == access.op);
                let i = known.unwrap_or_else(|| {
                    open.push(all.len());
                    all.push(Flight {
                        op: access.op,
                        life: access.life,
                        reads: false,
                        writes: None,
                        from: at,
                        until: None,
                    });
                    all.len() - 1
                });
                match access.direction {
                    Direction::Read => all[i].reads = true,
                    Direction::Write => all[i].writes = all[i].writes.or(Some(slot)),
                }
            }
        }
    }
    all
}

/// Where the arrow of a step points: where it says, or into the fabric for a post, or at the slot that a landing hits.
pub(super) fn toward(timeline: &Timeline, step: &TimelineStep, flights: &[Flight]) -> Option<Lane> {
    let derived = step.events.iter().find_map(|event| match event {
        Event::Post { .. } => Some(Lane::Fabric),
        Event::Land { op, .. } if step.lane == Lane::Fabric => {
            let flight = flights.iter().rev().find(|f| f.op == *op)?;
            Some(timeline.watched[flight.writes?].lane)
        }
        _ => None,
    });
    step.toward.or(derived).filter(|lane| *lane != step.lane)
}
