//! Which steps a long timeline may leave out.

use super::timeline::Timeline;
use crate::lifetime::{Arena, Cells, Event, Life, OpId};
use rustc_hash::FxHashSet;

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
    let concerned = Concerned::of(timeline);
    let keep = |at| shortest == 0 || concerned.interesting(timeline, at);
    let keep: Vec<bool> = (0..timeline.steps.len()).map(keep).collect();
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

/// Who ever had to do with a watched slot.
struct Concerned {
    owners: FxHashSet<Life>,
    accesses: FxHashSet<OpId>,
}

impl Concerned {
    fn of(timeline: &Timeline) -> Self {
        let states = || timeline.steps.iter().flat_map(|s| &s.slots);
        Self {
            owners: states().filter_map(|s| s.owner).collect(),
            accesses: states().flat_map(|s| &s.in_flight).map(|f| f.op).collect(),
        }
    }

    /// A step matters when it races, was injected, changed a watched slot, read or wrote one, or said how a life that
    /// ever owned one began or ended.
    fn interesting(&self, timeline: &Timeline, at: usize) -> bool {
        let step = &timeline.steps[at];
        let before = at.checked_sub(1).map(|b| &timeline.steps[b].slots);
        step.fault
            || timeline.role(step.number).is_some()
            || before.is_some_and(|before| *before != step.slots)
            || before.is_none() && step.slots.iter().any(|s| s.owner.is_some() || !s.in_flight.is_empty())
            || step.events.iter().any(|event| self.touches(timeline, event))
    }

    fn touches(&self, timeline: &Timeline, event: &Event) -> bool {
        let hit = |cells: &Cells| timeline.watched.iter().any(|w| w.cells_in(cells).next().is_some());
        match event {
            Event::Alloc { slots, .. } | Event::Free { slots, .. } => timeline.watched.iter().any(|w| w.among(slots)),
            Event::Write { cells, .. } | Event::Read { cells, .. } => hit(cells),
            Event::Post { source, target, .. } => [source, target].into_iter().flatten().any(hit),
            Event::Land { op, .. } | Event::Settle { op } => self.accesses.contains(op),
            Event::Begin { life } | Event::Finish { life, .. } | Event::Crash { life, .. } => {
                self.owners.contains(life)
            }
            Event::Decide { .. } => false,
        }
    }
}
