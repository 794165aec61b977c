//! Derives what each step left in the watched slots from what the oracle was told.
//!
//! This draws; it does not judge. Where the events make no sense (a landing of an access that was never posted), it
//! draws what it can and stays quiet, because saying so is the oracle's business.

use super::timeline::{Direction, InFlight, Portion, SlotState, Timeline, WatchedSlot};
use crate::lifetime::{Cells, Event, Life, OpId, Slots, Span};
use rustc_hash::FxHashMap;

/// A watched slot while the events are played.
struct Cellwise<'a> {
    slot: &'a WatchedSlot,
    owner: Option<Life>,
    cells: Vec<Option<Life>>,
    in_flight: Vec<InFlight>,
}

/// An access that has been posted: whose it is and where it reads and writes.
struct Posted<'a> {
    life: Life,
    source: Option<&'a Cells>,
    target: Option<&'a Cells>,
}

impl Timeline {
    /// Sets `slots` of every step from the steps' events, starting from free slots that were never written.
    pub fn fill_slots(&mut self) {
        let mut slots: Vec<Cellwise<'_>> = self.watched.iter().map(Cellwise::new).collect();
        let mut posted = FxHashMap::default();
        let mut states = Vec::with_capacity(self.steps.len());
        for step in &self.steps {
            for event in &step.events {
                play(event, &mut slots, &mut posted);
            }
            states.push(slots.iter().map(Cellwise::state).collect());
        }
        for (step, state) in self.steps.iter_mut().zip(states) {
            step.slots = state;
        }
    }
}

fn play<'a>(event: &'a Event, slots: &mut [Cellwise<'_>], posted: &mut FxHashMap<OpId, Posted<'a>>) {
    match event {
        Event::Alloc { life, slots: which } => {
            slots.iter_mut().filter(|s| s.slot.among(which)).for_each(|s| s.owner = Some(*life));
        }
        Event::Free { slots: which, .. } => {
            slots.iter_mut().filter(|s| s.slot.among(which)).for_each(|s| s.owner = None);
        }
        Event::Write { life, cells } => {
            for slot in slots {
                for (_, cell) in slot.slot.cells_in(cells) {
                    slot.cells[cell] = Some(*life);
                }
            }
        }
        Event::Post { op, life, source, target } => {
            for slot in slots {
                for (cells, direction) in [(source, Direction::Read), (target, Direction::Write)] {
                    if cells.as_ref().is_some_and(|c| slot.slot.cells_in(c).next().is_some()) {
                        slot.in_flight.push(InFlight { op: *op, life: *life, direction });
                    }
                }
            }
            posted.insert(*op, Posted { life: *life, source: source.as_ref(), target: target.as_ref() });
        }
        Event::Land { op, part } => {
            if let Some(access) = posted.get(op) {
                land(access, *part, slots);
            }
        }
        Event::Settle { op } => {
            posted.remove(op);
            slots.iter_mut().for_each(|s| s.in_flight.retain(|f| f.op != *op));
        }
        Event::Read { .. }
        | Event::Begin { .. }
        | Event::Decide { .. }
        | Event::Finish { .. }
        | Event::Crash { .. } => {}
    }
}

/// Bytes arrive. Where the source is watched they carry what the source holds now, which is how a reader sees one
/// request's bytes travel under another's name; elsewhere they are taken to be the access's own.
fn land(access: &Posted<'_>, part: Span, slots: &mut [Cellwise<'_>]) {
    let Some(target) = access.target else { return };
    let inside = |at: u32| part.start <= at && at < part.end();
    let mut carried: FxHashMap<u32, Option<Life>> = FxHashMap::default();
    if let Some(source) = access.source {
        for slot in &*slots {
            carried.extend(slot.slot.cells_in(source).map(|(at, cell)| (at, slot.cells[cell])));
        }
    }
    for slot in slots {
        for (at, cell) in slot.slot.cells_in(target).filter(|(at, _)| inside(*at)) {
            slot.cells[cell] = carried.get(&at).copied().unwrap_or(Some(access.life));
        }
    }
}

impl<'a> Cellwise<'a> {
    fn new(slot: &'a WatchedSlot) -> Self {
        Self { slot, owner: None, cells: vec![None; slot.cells as usize], in_flight: Vec::new() }
    }

    fn state(&self) -> SlotState {
        let runs = self.cells.chunk_by(|a, b| a == b);
        let content = runs.map(|run| Portion { life: run[0], cells: u32::try_from(run.len()).unwrap_or(u32::MAX) });
        SlotState { owner: self.owner, content: content.collect(), in_flight: self.in_flight.clone() }
    }
}

impl WatchedSlot {
    /// Whether this is one of `slots`.
    #[must_use]
    pub fn among(&self, slots: &Slots) -> bool {
        slots.place == self.place && slots.runs.iter().any(|r| r.start <= self.index && self.index < r.end())
    }

    /// The cells of this slot that `cells` holds, as (position along the runs, cell of this slot).
    pub fn cells_in<'a>(&'a self, cells: &'a Cells) -> impl Iterator<Item = (u32, usize)> + 'a {
        let first = self.index.saturating_mul(self.cells);
        let own = Span::new(first, self.cells);
        let here = cells.place == self.place;
        let starts = cells.runs.iter().scan(0, |before, run| {
            let at = *before;
            *before += run.len;
            Some((at, *run))
        });
        starts.filter(move |_| here).flat_map(move |(at, run)| {
            let common = run.intersection(own);
            common.into_iter().flat_map(move |c| {
                (c.start..c.end()).map(move |cell| (at + (cell - run.start), (cell - first) as usize))
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::report::{Portion, sample};

    #[test]
    fn the_race_leaves_the_bytes_of_a_in_a_page_of_b() {
        let t = sample::s14();
        let last = t.slot(t.steps.len() - 1, 1);
        assert_eq!((last.owner, last.content_text().as_str()), (Some(sample::B), "A 4/4"));
        assert!(last.foreign_content() && last.in_flight.is_empty());
        let flying = t.slot(12, 1);
        assert_eq!(flying.in_flight.iter().map(ToString::to_string).collect::<Vec<_>>(), ["w:A#0", "w:B#1"]);
        assert!(flying.foreign_in_flight());
        assert_eq!(t.slot(12, 0).in_flight.len(), 1, "B's write is not under page 1");
    }

    #[test]
    fn a_landing_carries_what_its_source_holds_then() {
        let t = sample::source_reuse();
        let page = t.slot(t.steps.len() - 1, 1);
        let portions: Vec<_> =
            page.content.iter().map(|Portion { life, cells }| (life.unwrap().request, *cells)).collect();
        assert_eq!(portions, [(0, 40), (31, 24)]);
        assert_eq!(page.content_text(), "A#1 40 R31 24");
        assert_eq!(t.slot(4, 1).content_text(), "A#1 40/64");
    }
}
