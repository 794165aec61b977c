//! The rules once more, the slow way: one map entry for each slot and each cell, no runs, nothing joined, nothing kept
//! in order, all decisions listed. What the oracle is held against.

use super::kit::bare;
use crate::lifetime::{Answer, Cells, Event, Kind, Label, Life, OpId, Place, Slots, Span, Spans, Verdict, Violation};
use std::collections::{BTreeMap, BTreeSet};

/// One cell, or one slot.
type At = (Place, u32);

#[derive(Clone, Debug)]
pub(super) struct Access {
    pub(super) op: OpId,
    pub(super) life: Life,
    pub(super) source: Option<Vec<At>>,
    pub(super) target: Option<Vec<At>>,
    pub(super) posted: Label,
    pub(super) source_released: Option<Label>,
    pub(super) target_released: Option<Label>,
    pub(super) landed: BTreeSet<u32>,
}

#[derive(Clone, Copy)]
struct Decision {
    life: Life,
    group: u8,
    rank: u8,
    verdict: Verdict,
    label: Label,
}

#[derive(Default)]
pub(super) struct Naive {
    widths: BTreeMap<Place, u32>,
    pub(super) owners: BTreeMap<At, (Life, Label)>,
    pub(super) contents: BTreeMap<At, Life>,
    pub(super) ops: Vec<Access>,
    pub(super) begun: BTreeMap<Life, Label>,
    decisions: Vec<Decision>,
}

type Key = (Kind, Option<Place>, Life, Option<Life>, Option<OpId>);

/// What is said of one fact so far.
#[derive(Default)]
struct Note {
    started: BTreeMap<u32, Option<Label>>,
    cells: u32,
    released: Option<Label>,
}

/// The violations of one event.
#[derive(Default)]
struct Notes(BTreeMap<Key, Note>);

impl Notes {
    /// Says that something is wrong with one slot (`cells` is 0) or with one cell of it.
    fn slot(&mut self, kind: Kind, at: At, life: Life, other: Option<Life>, started: Option<Label>, cells: u32) {
        let other = other.filter(|&other| other != life);
        let note = self.0.entry((kind, Some(at.0), life, other, None)).or_default();
        note.started.insert(at.1, started);
        note.cells += cells;
    }

    /// The same, of a slot under an access.
    fn access(&mut self, kind: Kind, at: At, (life, other): (Life, Option<Life>), op: &Access, cells: u32) {
        let other = other.filter(|&other| other != life);
        let note = self.0.entry((kind, Some(at.0), life, other, Some(op.op))).or_default();
        note.started.insert(at.1, Some(op.posted));
        note.cells += cells;
        let first = match kind {
            Kind::ReadAfterFree => op.source_released,
            Kind::FreeInFlight | Kind::ReuseInFlight if op.target.iter().flatten().all(|cell| cell.0 != at.0) => {
                op.source_released
            }
            _ => op.target_released,
        };
        note.released = first;
    }

    fn life(&mut self, kind: Kind, life: Life, other: Option<Life>, started: Option<Label>, cells: u32) {
        let note = self.0.entry((kind, None, life, other, None)).or_default();
        note.started.insert(0, started);
        note.cells += cells;
    }

    fn finish(self, broke: Label) -> Vec<Violation> {
        let violation = |((kind, place, life, other, op), note): (Key, Note)| {
            let started = *note.started.values().next().unwrap();
            let slots = if place.is_some() { joined(note.started.into_keys()) } else { Spans::new() };
            let Note { cells, released, .. } = Note { started: BTreeMap::new(), ..note };
            Violation { place, slots, cells, other, op, started, released, ..bare(kind, life, broke.0) }
        };
        self.0.into_iter().map(violation).collect()
    }
}

/// Ascending indices as runs.
fn joined(indices: impl Iterator<Item = u32>) -> Spans {
    let indices: Vec<u32> = indices.collect();
    let runs = indices.chunk_by(|a, b| a + 1 == *b);
    runs.map(|run| Span::new(run[0], u32::try_from(run.len()).unwrap())).collect()
}

/// Every index of some runs, in order.
fn each(place: Place, runs: &[Span]) -> Vec<At> {
    runs.iter().flat_map(|run| run.start..run.end()).map(|index| (place, index)).collect()
}

impl Naive {
    /// Knows these places, with the cells of a slot of each.
    pub(super) fn new(widths: impl IntoIterator<Item = (Place, u32)>) -> Self {
        Self { widths: widths.into_iter().collect(), ..Self::default() }
    }

    pub(super) fn apply(&mut self, label: Label, event: &Event) -> Vec<Violation> {
        let mut notes = Notes::default();
        match event {
            Event::Begin { life } => {
                self.begun.entry(*life).or_insert(label);
            }
            Event::Alloc { life, slots } => self.alloc(label, *life, slots, &mut notes),
            Event::Free { life, slots } => self.free(label, *life, slots, &mut notes),
            Event::Write { life, cells } => self.write(*life, cells, &mut notes),
            Event::Post { op, life, source, target } => {
                let list = |side: &Option<Cells>| side.as_ref().map(|cells| each(cells.place, &cells.runs));
                let (source, target) = (list(source), list(target));
                self.ops.retain(|live| live.op != *op);
                let (posted, landed) = (label, BTreeSet::new());
                self.ops.push(Access {
                    op: *op,
                    life: *life,
                    source,
                    target,
                    posted,
                    source_released: None,
                    target_released: None,
                    landed,
                });
            }
            Event::Land { op, part } => self.land(*op, *part, &mut notes),
            Event::Settle { op } => self.ops.retain(|live| live.op != *op),
            Event::Read { life, cells } => self.read(*life, cells, &mut notes),
            Event::Decide { life, group, rank, verdict } => {
                self.decide(Decision { life: *life, group: *group, rank: *rank, verdict: *verdict, label }, &mut notes);
            }
            Event::Finish { life, told, processed } => self.finish(*life, told, *processed, &mut notes),
            Event::Crash { life, .. } => notes.life(Kind::Crash, *life, None, None, 0),
        }
        let (begun, owners, ops) = (&self.begun, &self.owners, &self.ops);
        self.decisions.retain(|Decision { life, .. }| {
            begun.contains_key(life)
                || owners.values().any(|(owner, _)| owner == life)
                || ops.iter().any(|op| op.life == *life)
        });
        notes.finish(label)
    }

    pub(super) fn quiesce(&self, label: Label, held: &[Life]) -> Vec<Violation> {
        let mut notes = Notes::default();
        for (&slot, &(owner, since)) in &self.owners {
            if !held.contains(&owner) {
                notes.slot(Kind::Leak, slot, owner, None, Some(since), 0);
            }
        }
        for (&life, &since) in &self.begun {
            notes.life(Kind::Stuck, life, None, Some(since), 0);
        }
        notes.finish(label)
    }

    fn slot_of(&self, (place, cell): At) -> At {
        (place, cell / self.widths[&place])
    }

    /// Who owns the slot of a cell, unless it is `life`: the inner option is a free slot.
    fn stranger(&self, cell: At, life: Life) -> Option<Option<(Life, Label)>> {
        let owner = self.owners.get(&self.slot_of(cell)).copied();
        (owner.map(|owner| owner.0) != Some(life)).then_some(owner)
    }

    fn writes(&self, op: &Access, slot: At) -> bool {
        op.target.iter().flatten().any(|&cell| self.slot_of(cell) == slot)
    }

    fn touches(&self, op: &Access, slot: At) -> bool {
        self.writes(op, slot) || op.source.iter().flatten().any(|&cell| self.slot_of(cell) == slot)
    }

    fn alloc(&mut self, label: Label, life: Life, slots: &Slots, notes: &mut Notes) {
        for slot in each(slots.place, &slots.runs) {
            let owner = self.owners.get(&slot).copied();
            if owner.is_some_and(|owner| owner.0 == life) {
                continue;
            }
            if let Some((robbed, since)) = owner {
                notes.slot(Kind::DoubleAlloc, slot, life, Some(robbed), Some(since), 0);
            }
            self.owners.insert(slot, (life, label));
            for op in self.ops.iter().filter(|op| op.life != life && self.touches(op, slot)) {
                notes.access(Kind::ReuseInFlight, slot, (op.life, Some(life)), op, 0);
            }
        }
    }

    fn free(&mut self, label: Label, life: Life, slots: &Slots, notes: &mut Notes) {
        for slot in each(slots.place, &slots.runs) {
            match self.owners.get(&slot).copied() {
                None => notes.slot(Kind::DoubleFree, slot, life, None, None, 0),
                Some((owner, since)) if owner != life => {
                    notes.slot(Kind::ForeignFree, slot, life, Some(owner), Some(since), 0);
                }
                Some(_) => {
                    self.owners.remove(&slot);
                    for at in 0..self.ops.len() {
                        let op = self.ops[at].clone();
                        if op.life != life || !self.touches(&op, slot) {
                            continue;
                        }
                        let reads = op.source.iter().flatten().any(|&cell| self.slot_of(cell) == slot);
                        if reads {
                            self.ops[at].source_released.get_or_insert(label);
                        }
                        if self.writes(&op, slot) {
                            self.ops[at].target_released.get_or_insert(label);
                        }
                        notes.access(Kind::FreeInFlight, slot, (life, None), &self.ops[at].clone(), 0);
                    }
                }
            }
        }
    }

    fn write(&mut self, life: Life, cells: &Cells, notes: &mut Notes) {
        for cell in each(cells.place, &cells.runs) {
            if let Some(owner) = self.stranger(cell, life) {
                let (other, since) = (owner.map(|owner| owner.0), owner.map(|owner| owner.1));
                notes.slot(Kind::WriteAfterFree, self.slot_of(cell), life, other, since, 1);
            }
            self.contents.insert(cell, life);
        }
    }

    fn read(&mut self, life: Life, cells: &Cells, notes: &mut Notes) {
        for cell in each(cells.place, &cells.runs) {
            let slot = self.slot_of(cell);
            for op in self.ops.iter().filter(|op| self.writes(op, slot)) {
                notes.access(Kind::TornRead, slot, (life, Some(op.life)), op, 1);
            }
            let found = self.contents.get(&cell).copied();
            if let Some(owner) = self.stranger(cell, life) {
                let (other, since) = (owner.map(|owner| owner.0), owner.map(|owner| owner.1));
                notes.slot(Kind::ReadAfterFree, slot, life, other, since, 1);
            } else if found != Some(life) {
                notes.slot(Kind::StaleRead, slot, life, found, Some(self.owners[&slot].1), 1);
            }
        }
    }

    fn land(&mut self, op: OpId, part: Span, notes: &mut Notes) {
        let Some(at) = self.ops.iter().position(|live| live.op == op) else { return };
        let op = self.ops[at].clone();
        let counted = op.target.as_ref().or(op.source.as_ref()).map_or(0, Vec::len);
        let asked = u64::from(part.start)..u64::from(part.start) + u64::from(part.len);
        let part: Vec<usize> = (0..counted).filter(|&index| asked.contains(&(index as u64))).collect();
        let mut arrived = Vec::new();
        for &index in &part {
            let from = op.source.as_ref().and_then(|source| source.get(index).copied());
            if let Some(cell) = from
                && let Some(owner) = self.stranger(cell, op.life)
            {
                let other = owner.map(|owner| owner.0);
                notes.access(Kind::ReadAfterFree, self.slot_of(cell), (op.life, other), &op, 1);
            }
            arrived.push(from.map_or(Some(op.life), |cell| self.contents.get(&cell).copied()));
            self.ops[at].landed.insert(u32::try_from(index).unwrap());
        }
        let Some(target) = &op.target else { return };
        for (&index, content) in part.iter().zip(arrived) {
            let cell = target[index];
            if let Some(owner) = self.stranger(cell, op.life) {
                let other = owner.map(|owner| owner.0);
                notes.access(Kind::WriteAfterFree, self.slot_of(cell), (op.life, other), &op, 1);
            }
            match content {
                Some(life) => self.contents.insert(cell, life),
                None => self.contents.remove(&cell),
            };
        }
    }

    fn decide(&mut self, new: Decision, notes: &mut Notes) {
        let group: Vec<_> =
            self.decisions.iter().filter(|old| (old.life, old.group) == (new.life, new.group)).collect();
        let differs = |first: &Decision, other: &Decision| first.rank != other.rank && first.verdict != other.verdict;
        if let Some(first) = group.first()
            && differs(first, &new)
            && !group.iter().any(|old| differs(first, old))
        {
            notes.life(Kind::Divergence, new.life, None, Some(first.label), 0);
        }
        self.decisions.push(new);
    }

    fn finish(&mut self, life: Life, told: &Answer, processed: Option<u32>, notes: &mut Notes) {
        let mut against = self.decisions.iter().filter(|old| old.life == life && old.verdict != Verdict::Success);
        let contradicted = match told.verdict {
            Verdict::Success => against.find(|old| old.verdict != Verdict::Aborted),
            Verdict::Failed => against.next().filter(|old| old.verdict == Verdict::Rejected),
            Verdict::Rejected | Verdict::Aborted => None,
        };
        if let Some(decision) = contradicted {
            notes.life(Kind::FalseSuccess, life, None, Some(decision.label), 0);
        }
        let began = self.begun.remove(&life);
        if told.verdict != Verdict::Success {
            return;
        }
        if let Some(owner) = told.tokens_of
            && owner != life
        {
            notes.life(Kind::FalseSuccess, life, Some(owner), began, 0);
        }
        if let Some(processed) = processed
            && processed != told.prompt_tokens
        {
            notes.life(Kind::WrongUsage, life, None, began, processed.abs_diff(told.prompt_tokens));
        }
    }
}
