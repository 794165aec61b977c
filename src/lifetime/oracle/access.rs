//! What is done to memory: `write`, `read`, and the life of an asynchronous access.

use super::Oracle;
use super::draft::{Draft, Fact};
use super::memory::{Hold, Memory, Region};
use super::op::LiveOp;
use super::spans::part_of;
use crate::lifetime::{Cells, Kind, Label, Life, OpId, Span, Violation};
use smallvec::SmallVec;

impl Oracle {
    /// `write`: content changes whether or not the writer may, since that is what memory does.
    pub(super) fn write(&mut self, label: Label, life: Life, cells: &Cells, out: &mut Vec<Violation>) {
        let mut draft = Draft::new(label, out);
        let region = self.memory.of_cells(cells);
        for &run in cells.runs.iter().filter(|run| run.len > 0) {
            for (piece, owner) in self.memory.owners_of(region, run) {
                if !owns(owner, life) {
                    let fact = Fact::new(Kind::WriteAfterFree, life).against(owner);
                    draft.add(fact, region.place, region.slots_of(piece), piece.len);
                }
            }
            self.memory.fill(region, run, Some(life));
        }
    }

    /// `read`: each cell is the reader's own with the reader's own content, or it is reported. That a write is live on
    /// the slot is a fact of its own and is reported beside it.
    pub(super) fn read(&mut self, label: Label, life: Life, cells: &Cells, out: &mut Vec<Violation>) {
        let mut draft = Draft::new(label, out);
        let region = self.memory.of_cells(cells);
        for &run in cells.runs.iter().filter(|run| run.len > 0) {
            for op in &self.ops {
                for torn in op.written(region.place, region.width, &[region.slots_of(run)]) {
                    let read = region.cells_of(torn).intersection(run).map_or(0, |read| read.len);
                    let torn_by = Fact { life, ..Fact::of(Kind::TornRead, op) }.versus(Some(op.life));
                    draft.add(torn_by, region.place, torn, read);
                }
            }
            for (piece, owner) in self.memory.owners_of(region, run) {
                if !owns(owner, life) {
                    let fact = Fact::new(Kind::ReadAfterFree, life).against(owner);
                    draft.add(fact, region.place, region.slots_of(piece), piece.len);
                    continue;
                }
                let stale = self.memory.contents(region, piece).filter(|&(_, content)| content != Some(life));
                for (piece, content) in stale {
                    let fact = Fact::new(Kind::StaleRead, life).versus(content).since(owner.map(|owner| owner.since));
                    draft.add(fact, region.place, region.slots_of(piece), piece.len);
                }
            }
        }
    }

    /// `post`: only registers the access. Posting on a slot that is not the life's own moves nothing yet; the landing
    /// is judged. An access of the same name that is live counts as settled.
    pub(super) fn post(&mut self, label: Label, op: OpId, life: Life, source: Option<&Cells>, target: Option<&Cells>) {
        for cells in source.into_iter().chain(target) {
            let _ = self.memory.of_cells(cells);
        }
        let new = LiveOp::new(op, life, source, target, label);
        match self.find_op(op) {
            Ok(at) => {
                let old = std::mem::replace(&mut self.ops[at], new);
                self.retire(old.life);
            }
            Err(at) => self.ops.insert(at, new),
        }
    }

    /// `land`: judges both ends of the cells that moved, and moves their content. The landing of an access that is not
    /// live is ignored: that nothing can land after `settle` is what `settle` means.
    pub(super) fn land(&mut self, label: Label, op: OpId, part: Span, out: &mut Vec<Violation>) {
        let Ok(at) = self.find_op(op) else { return };
        let Some(part) = self.ops[at].land(part) else { return };
        let op = &self.ops[at];
        let mut draft = Draft::new(label, out);
        // All content is picked up before any is put down: source and target may overlap.
        let mut carried = Carried::default();
        if let Some(source) = &op.source {
            let region = self.memory.of_cells(source);
            for run in part_of(&source.runs, part) {
                trespass(&mut draft, Fact::of(Kind::ReadAfterFree, op), &self.memory, region, run);
                carried.pieces.extend(self.memory.contents(region, run).map(|(piece, content)| (piece.len, content)));
            }
        }
        if let Some(target) = &op.target {
            let region = self.memory.of_cells(target);
            for run in part_of(&target.runs, part) {
                trespass(&mut draft, Fact::of(Kind::WriteAfterFree, op), &self.memory, region, run);
                carried.put_down(&mut self.memory, region, run, op.life);
            }
        }
    }

    /// `settle`: nothing can land any more. Settling what is not live is ignored.
    pub(super) fn settle(&mut self, op: OpId) {
        if let Ok(at) = self.find_op(op) {
            let op = self.ops.remove(at);
            self.retire(op.life);
        }
    }

    /// Where the access is in the list, or where it belongs.
    fn find_op(&self, op: OpId) -> Result<usize, usize> {
        self.ops.binary_search_by_key(&op, |op| op.op)
    }
}

/// Whether the owner is that life.
fn owns(owner: Option<Hold>, life: Life) -> bool {
    owner.is_some_and(|owner| owner.life == life)
}

/// Reports the cells of a run that the life of `fact` does not own.
fn trespass(draft: &mut Draft<'_>, fact: Fact, memory: &Memory, region: Region, run: Span) {
    for (piece, owner) in memory.owners_of(region, run) {
        if !owns(owner, fact.life) {
            draft.add(fact.versus(owner.map(|owner| owner.life)), region.place, region.slots_of(piece), piece.len);
        }
    }
}

/// Content on its way from source to target.
#[derive(Default)]
struct Carried {
    /// How many cells have which content, in the order in which they land.
    pieces: SmallVec<[(u32, Option<Life>); 8]>,
    /// How many of `pieces` are put down completely.
    done: usize,
    /// How many cells of the next one are put down.
    used: u32,
}

impl Carried {
    /// Puts the next cells down on `run`. Where no source says otherwise, they are the life's own.
    fn put_down(&mut self, memory: &mut Memory, region: Region, mut run: Span, life: Life) {
        while run.len > 0 {
            let (len, content) = self.pieces.get(self.done).copied().unwrap_or((u32::MAX, Some(life)));
            let moved = run.len.min(len - self.used);
            memory.fill(region, Span::new(run.start, moved), content);
            run = Span::new(run.start + moved, run.len - moved);
            self.used += moved;
            if self.used == len {
                self.done += 1;
                self.used = 0;
            }
        }
    }
}
