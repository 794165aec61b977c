//! Which steps a long timeline may leave out.

use super::timeline::Timeline;
use crate::lifetime::{Arena, Event, Life};

/// A row of a timeline: a step, or a run of steps that were left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Row {
    /// The step with this index.
    Step(usize),
    /// Steps `from..until`, as indices.
    Gap { from: usize, until: usize },
}

/// The rows of a timeline. Runs of at least `shortest` uninteresting steps become gaps; with 0, nothing does.
pub(super) fn rows(timeline: &Timeline, shortest: usize) -> Vec<Row> {
    let keep: Vec<bool> = (0..timeline.steps.len()).map(|at| shortest == 0 || interesting(timeline, at)).collect();
    let mut rows = Vec::new();
    let mut from = 0;
    for run in keep.chunk_by(|a, b| a == b) {
        let until = from + run.len();
        if run[0] || run.len() < shortest {
            rows.extend((from..until).map(Row::Step));
        } else {
            rows.push(Row::Gap { from, until });
        }
        from = until;
    }
    rows
}

/// What a gap says.
pub(super) fn gap_text(timeline: &Timeline, steps: usize) -> String {
    let pages = timeline.watched.iter().all(|w| matches!(w.place.arena, Arena::KvPage | Arena::HostPage));
    let things = if timeline.watched.is_empty() {
        "that change nothing shown here"
    } else if pages {
        "that do not touch the watched pages"
    } else {
        "that do not touch the watched slots"
    };
    format!("{steps} steps {things}")
}

/// A step matters when it races, was injected, changed a watched slot, read or wrote one, or said how a life that
/// ever owned one ended.
fn interesting(timeline: &Timeline, at: usize) -> bool {
    let step = &timeline.steps[at];
    let changed =
        || (0..timeline.watched.len()).any(|slot| at > 0 && timeline.slot(at, slot) != timeline.slot(at - 1, slot));
    let first = || at == 0 && step.slots.iter().any(|s| s.owner.is_some() || !s.in_flight.is_empty());
    step.fault
        || timeline.role(step.number).is_some()
        || changed()
        || first()
        || step.events.iter().any(|e| touches(timeline, e))
}

fn touches(timeline: &Timeline, event: &Event) -> bool {
    let watched = &timeline.watched;
    match event {
        Event::Alloc { slots, .. } | Event::Free { slots, .. } => watched.iter().any(|w| w.among(slots)),
        Event::Write { cells, .. } | Event::Read { cells, .. } => {
            watched.iter().any(|w| w.cells_in(cells).next().is_some())
        }
        Event::Post { source, target, .. } => {
            [source, target].into_iter().flatten().any(|c| watched.iter().any(|w| w.cells_in(c).next().is_some()))
        }
        Event::Land { op, .. } | Event::Settle { op } => {
            timeline.steps.iter().any(|s| s.slots.iter().any(|s| s.in_flight.iter().any(|f| f.op == *op)))
        }
        Event::Begin { life } | Event::Finish { life, .. } | Event::Crash { life, .. } => involved(timeline, *life),
        Event::Decide { .. } => false,
    }
}

fn involved(timeline: &Timeline, life: Life) -> bool {
    timeline.steps.iter().flat_map(|s| &s.slots).any(|slot| slot.owner == Some(life))
}
