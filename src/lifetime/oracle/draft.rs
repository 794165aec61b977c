//! The violations of one event while they are being put together.

use super::memory::Hold;
use super::op::LiveOp;
use super::spans::include;
use crate::lifetime::{Kind, Label, Life, OpId, Place, Span, Spans, Violation};

/// What makes two pieces of memory part of the same violation, and what is said about them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fact {
    pub(super) kind: Kind,
    pub(super) life: Life,
    pub(super) other: Option<Life>,
    pub(super) op: Option<OpId>,
    pub(super) started: Option<Label>,
    pub(super) released: Option<Label>,
}

impl Fact {
    /// Something is wrong with a life; nothing else is known yet.
    pub(super) const fn new(kind: Kind, life: Life) -> Self {
        Self { kind, life, other: None, op: None, started: None, released: None }
    }

    /// Something is wrong with an access in flight: with what it writes, or, of a kind that is about reading, with what
    /// it reads.
    pub(super) const fn of(kind: Kind, op: &LiveOp) -> Self {
        let released = if matches!(kind, Kind::ReadAfterFree) { op.source_released } else { op.target_released };
        Self { kind, life: op.life, other: None, op: Some(op.op), started: Some(op.posted), released }
    }

    /// Names the step that took the slot away.
    pub(super) const fn by(self, released: Option<Label>) -> Self {
        Self { released, ..self }
    }

    /// Names who owns the slot, and the step that gave it.
    pub(super) fn against(self, owner: Option<Hold>) -> Self {
        self.versus(owner.map(|owner| owner.life)).since(owner.map(|owner| owner.since))
    }

    /// Names the other life, unless it is the same.
    pub(super) fn versus(self, other: Option<Life>) -> Self {
        Self { other: other.filter(|&other| other != self.life), ..self }
    }

    /// Names the step that started it.
    pub(super) const fn since(self, started: Option<Label>) -> Self {
        Self { started, ..self }
    }
}

/// Appends the violations of one event to a list: one for each fact, however many pieces of memory it concerns.
pub(super) struct Draft<'a> {
    out: &'a mut Vec<Violation>,
    /// Where the violations of this event begin in `out`.
    first: usize,
    broke: Label,
}

impl<'a> Draft<'a> {
    /// Starts the list of what breaks in step `broke`.
    pub(super) fn new(broke: Label, out: &'a mut Vec<Violation>) -> Self {
        let first = out.len();
        Self { out, first, broke }
    }

    /// The violations of this event so far.
    pub(super) fn found(&self) -> &[Violation] {
        &self.out[self.first..]
    }

    /// Reports a fact about no memory.
    pub(super) fn say(&mut self, fact: Fact, cells: u32) {
        self.out.push(Violation {
            kind: fact.kind,
            place: None,
            slots: Spans::new(),
            cells,
            life: fact.life,
            other: fact.other,
            op: fact.op,
            started: fact.started,
            released: fact.released,
            broke: self.broke,
        });
    }

    /// Reports a fact about slots, of which `cells` cells are concerned. Joins what this event said of the same kind,
    /// place, lives and access; then `started` is that of the lowest slot.
    pub(super) fn add(&mut self, fact: Fact, place: Place, slots: Span, cells: u32) {
        let same = |v: &&mut Violation| {
            (v.kind, v.place, v.life, v.other, v.op) == (fact.kind, Some(place), fact.life, fact.other, fact.op)
        };
        let Some(known) = self.out[self.first..].iter_mut().find(same) else {
            self.say(fact, cells);
            let new = self.out.last_mut().expect("just pushed");
            (new.place, new.slots) = (Some(place), Spans::from_slice(&[slots]));
            return;
        };
        known.cells += cells;
        if slots.start < known.slots[0].start {
            known.started = fact.started;
        }
        include(&mut known.slots, slots);
    }
}
