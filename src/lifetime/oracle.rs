//! The judge of all runs: it is told events and reports what is wrong.

mod access;
mod answers;
mod draft;
mod memory;
mod op;
mod ownership;
mod renamed;
mod spans;

pub use op::LiveOp;

use super::event::Event;
use super::life::{Label, Life};
use super::slot::{Place, Span};
use super::violation::{Kind, Violation};
use crate::few::{Few, clone_by_field};
use answers::Record;
use draft::{Draft, Fact};
use memory::Memory;

/// Everything that is known of slots, accesses in flight and lives, and the rules that they must keep.
///
/// It is a value: it compares and hashes by what it knows, so that a search recognises a state that it has seen. Two
/// oracles are meant to be compared only after the same declarations in the same order.
///
/// Rules that need saying:
///
/// * One fault is reported once. A free takes away only what was the life's own, so freeing a slot of another life
///   leaves it with its owner. An access is reported as free in flight by the event that truly frees the slot, and as
///   reused in flight by the event that truly gives it away.
/// * Violations of one event are joined by kind, place, lives and access; then `started` speaks of the lowest slot.
///   `cells` counts what is read, written or landed; it is 0 for facts about whole slots (alloc, free, leak).
/// * `life` is whose access is wrong. For an access in flight that is the access's life, and `other` is who freed the
///   slot or owns it now; for a torn read it is the reader, and `other` is the writer. `other` is absent when it would
///   be the same life.
/// * A read may be torn *and* stale *and* after free: these are different facts and all are reported.
/// * Content flows with a landing from source to target, whether or not it was right at the source.
/// * A life is remembered while it has begun and not finished, owns a slot, or has an access in flight. Then all that
///   was decided on it is forgotten, so that states repeat and memory stays flat. What this loses: two ranks of one
///   group that differ, when the second decides after the client was told and everything was given back.
/// * The first decision of each group counts. A group is reported to diverge once. A rank may change its own mind.
/// * Begin and finish are taken at their word: a second `begin` of an open life changes nothing, and a second
///   `finish` is judged like the first, against what is remembered then. A retry is a new generation.
#[derive(Debug, Default, PartialEq, Eq, Hash)]
pub struct Oracle {
    memory: Memory,
    /// Accesses in flight, by name.
    ops: Few<LiveOp, 2>,
    /// What is remembered of lives, by life.
    lives: Few<Record, 2>,
}

clone_by_field!(Oracle { memory, ops, lives });

impl Oracle {
    /// Adds a place with slots `0 .. slots`, all free, of `width` cells each (the page size for KV pages, 1 elsewhere),
    /// none of which was ever written.
    ///
    /// # Panics
    ///
    /// When the place is declared already, when `width` is 0, and when 32 bits do not count the cells of all places.
    pub fn declare(&mut self, place: Place, slots: u32, width: u32) {
        self.memory.declare(place, slots, width);
    }

    /// Whether events may speak of a place.
    #[must_use]
    pub fn is_declared(&self, place: Place) -> bool {
        self.bounds(place).is_some()
    }

    /// How many slots a place has, and how many cells each of them; `None` when it is not declared.
    #[must_use]
    pub fn bounds(&self, place: Place) -> Option<(u32, u32)> {
        self.memory.find(place).map(|region| (region.slots, region.width))
    }

    /// Takes note of an event, and appends what it breaks to `out`.
    ///
    /// `label` is where the event came from; it comes back as the `started`, `released` and `broke` of violations.
    ///
    /// # Panics
    ///
    /// When the event speaks of a place that is not declared or of slots or cells outside it, and when it posts an
    /// access of more cells than 32 bits count. Whoever takes events from outside checks them first, by
    /// [`bounds`](Self::bounds).
    pub fn apply(&mut self, label: Label, event: &Event, out: &mut Vec<Violation>) {
        match event {
            Event::Begin { life } => self.begin(label, *life),
            Event::Alloc { life, slots } => self.alloc(label, *life, slots, out),
            Event::Free { life, slots } => self.free(label, *life, slots, out),
            Event::Write { life, cells } => self.write(label, *life, cells, out),
            Event::Post { op, life, source, target } => {
                self.post(label, *op, *life, source.as_ref(), target.as_ref());
            }
            Event::Land { op, part } => self.land(label, *op, *part, out),
            Event::Settle { op } => self.settle(*op),
            Event::Read { life, cells } => self.read(label, *life, cells, out),
            Event::Decide { life, group, rank, verdict } => {
                self.decide(label, *life, (*group, *rank), *verdict, out);
            }
            Event::Finish { life, told, processed } => self.finish(label, *life, told, *processed, out),
            Event::Crash { node: _, life } => Draft::new(label, out).say(Fact::new(Kind::Crash, *life), 0),
        }
    }

    /// Who owns a slot; `None` when it is free, and when there is no such slot.
    #[must_use]
    pub fn owner(&self, place: Place, slot: u32) -> Option<Life> {
        let region = self.memory.find(place).filter(|region| slot < region.slots)?;
        let (_, owner) = self.memory.owners(region, Span::new(slot, 1)).next()?;
        owner.map(|owner| owner.life)
    }

    /// Whose content a cell holds; `None` when it was never written, and when there is no such cell.
    #[must_use]
    pub fn content(&self, place: Place, cell: u32) -> Option<Life> {
        let region = self.memory.find(place).filter(|region| cell < region.slots * region.width)?;
        let (_, content) = self.memory.contents(region, Span::new(cell, 1)).next()?;
        content
    }

    /// The accesses in flight, in ascending order of their names.
    pub fn live_ops(&self) -> impl Iterator<Item = &LiveOp> {
        self.ops.iter()
    }

    /// How many runs of equal owner or equal content the state takes: its cost, whatever the sizes of pools.
    #[must_use]
    pub fn segments(&self) -> usize {
        self.memory.segments()
    }
}
