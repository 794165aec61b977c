//! A hash that does not see the names of slots, for symmetry reduction.

use super::Oracle;
use crate::lifetime::{Cells, Place, Span};
use std::hash::{Hash, Hasher};

impl Oracle {
    /// Hashes the state as if the slots of each place were renumbered: the first slot of `order(place)` to 0, the
    /// second to 1, and so on; slots that are not in the list follow in ascending order. Two states that differ by a
    /// renaming of slots, each hashed with the order that the renaming gives it, hash alike.
    ///
    /// A list names each slot at most once, and only declared ones. Work goes with the number of slots, since those
    /// that are neighbours need not stay so: meant for the small pools of an exhaustive search. Lives, accesses and
    /// labels are not renamed.
    pub fn hash_renamed<'a, H: Hasher>(&self, hasher: &mut H, order: impl Fn(Place) -> &'a [u32]) {
        for region in self.memory.regions() {
            let order = order(region.place);
            let rest = (0..region.slots).filter(|slot| !order.contains(slot));
            for slot in order.iter().copied().chain(rest) {
                let slot = Span::new(slot, 1);
                self.memory.owners(region, slot).for_each(|(_, owner)| owner.hash(hasher));
                for (piece, content) in self.memory.contents(region, region.cells_of(slot)) {
                    (piece.len, content).hash(hasher);
                }
            }
        }
        for op in &self.ops {
            (op.op, op.life, op.posted, op.source_released, op.target_released).hash(hasher);
            op.landed().for_each(|part| part.hash(hasher));
            for side in [&op.source, &op.target] {
                side.as_ref().map(|cells| cells.place).hash(hasher);
                side.iter().for_each(|cells| self.hash_cells(cells, order(cells.place), hasher));
            }
        }
        self.lives.hash(hasher);
    }

    /// Hashes cells by the rank of their slots, slot by slot: runs of neighbours need not stay runs.
    fn hash_cells<H: Hasher>(&self, cells: &Cells, order: &[u32], hasher: &mut H) {
        let width = self.memory.find(cells.place).map_or(1, |region| region.width);
        for &run in &cells.runs {
            let slots = run.slots(width);
            for slot in slots.start..slots.end() {
                let of_slot = Span::new(slot * width, width).intersection(run);
                let within = of_slot.map(|cells| (cells.start % width, cells.len));
                (rank(slot, order), within).hash(hasher);
            }
        }
    }
}

/// Where a slot comes in the order: listed ones first, then the others in ascending order.
fn rank(slot: u32, order: &[u32]) -> u32 {
    let listed = |at: usize| u32::try_from(at).expect("a list of slots is counted in 32 bits");
    match order.iter().position(|&named| named == slot) {
        Some(at) => listed(at),
        None => listed(order.len()) + slot - listed(order.iter().filter(|&&named| named < slot).count()),
    }
}
