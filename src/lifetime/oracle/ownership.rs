//! Who a slot belongs to: `alloc`, `free`, and what is left when all work is done.

use super::Oracle;
use super::draft::{Draft, Fact};
use super::memory::Hold;
use crate::lifetime::{Kind, Label, Life, Place, Slots, Span, Violation};
use smallvec::SmallVec;

/// Runs that one event concerns.
type Concerned = SmallVec<[Span; 8]>;

impl Oracle {
    /// `alloc`: only slots that were not the life's already change hands; the others keep the step that gave them.
    pub(super) fn alloc(&mut self, label: Label, life: Life, slots: &Slots, out: &mut Vec<Violation>) {
        let mut draft = Draft::new(label, out);
        let region = self.memory.of_slots(slots);
        let mut taken = Concerned::new();
        for &run in &slots.runs {
            let from = taken.len();
            for (span, owner) in self.memory.owners(region, run) {
                if owner.is_some_and(|owner| owner.life == life) {
                    continue;
                }
                if owner.is_some() {
                    let fact = Fact::new(Kind::DoubleAlloc, life).against(owner);
                    draft.add(fact, slots.place, span, 0);
                }
                taken.push(span);
            }
            for &span in &taken[from..] {
                self.memory.give(region, span, Some(Hold { life, since: label }));
            }
        }
        for op in self.ops.iter().filter(|op| op.life != life) {
            let fact = Fact::of(Kind::ReuseInFlight, op).versus(Some(life)).by(op.released(slots.place));
            for span in op.touched(slots.place, region.width, &taken) {
                draft.add(fact, slots.place, span, 0);
            }
        }
        let robbed: SmallVec<[Life; 2]> = draft
            .found()
            .iter()
            .filter(|found| found.kind == Kind::DoubleAlloc)
            .filter_map(|found| found.other)
            .collect();
        for life in robbed {
            self.retire(life);
        }
    }

    /// `free`: run by run, so that an index that one list holds twice is a double free. A slot of another life is
    /// reported and stays with its owner, so that the owner's own free is not reported again.
    pub(super) fn free(&mut self, label: Label, life: Life, slots: &Slots, out: &mut Vec<Violation>) {
        let mut draft = Draft::new(label, out);
        let region = self.memory.of_slots(slots);
        let mut freed = Concerned::new();
        for &run in &slots.runs {
            let from = freed.len();
            for (span, owner) in self.memory.owners(region, run) {
                match owner {
                    Some(owner) if owner.life == life => freed.push(span),
                    Some(_) => draft.add(Fact::new(Kind::ForeignFree, life).against(owner), slots.place, span, 0),
                    None => draft.add(Fact::new(Kind::DoubleFree, life), slots.place, span, 0),
                }
            }
            for &span in &freed[from..] {
                self.memory.give(region, span, None);
            }
        }
        for op in &mut self.ops {
            // What another life frees was given to it under the access, and that has been reported.
            if op.life != life {
                continue;
            }
            let touched = op.lose(label, slots.place, region.width, &freed);
            let fact = Fact::of(Kind::FreeInFlight, op).by(op.released(slots.place));
            for span in touched {
                draft.add(fact, slots.place, span, 0);
            }
        }
        self.retire(life);
    }

    /// All work is done: reports every slot that is still owned by a life outside `held` as a leak, one violation for
    /// each place and life, and every life that began and has not finished as stuck (whether it is in `held` or not).
    pub fn quiesce(&self, label: Label, held: &[Life], out: &mut Vec<Violation>) {
        let mut draft = Draft::new(label, out);
        for region in self.memory.regions() {
            for (span, owner) in self.memory.owners(region, Span::new(0, region.slots)) {
                let Some(owner) = owner.filter(|owner| !held.contains(&owner.life)) else { continue };
                let fact = Fact::new(Kind::Leak, owner.life).since(Some(owner.since));
                draft.add(fact, region.place, span, 0);
            }
        }
        for record in &self.lives {
            if record.begun.is_some() {
                draft.say(Fact::new(Kind::Stuck, record.life).since(record.begun), 0);
            }
        }
    }

    /// What is owned: by place (in the order of declaration), then by slot, in maximal runs of one owner.
    pub fn owned(&self) -> impl Iterator<Item = (Place, Life, Span)> {
        self.memory.regions().flat_map(|region| {
            let mut pieces = self
                .memory
                .owners(region, Span::new(0, region.slots))
                .filter_map(|(span, owner)| Some((owner?.life, span)))
                .peekable();
            std::iter::from_fn(move || {
                let (life, mut run) = pieces.next()?;
                // Slots that one life was given in several steps are several pieces.
                while let Some((_, more)) = pieces.next_if(|&(next, span)| next == life && span.start == run.end()) {
                    run.len += more.len;
                }
                Some((region.place, life, run))
            })
        })
    }
}
