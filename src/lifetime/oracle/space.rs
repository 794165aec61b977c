//! The memory of one place: who owns each slot, and whose content each cell holds.

use super::spans::slots_of;
use crate::lifetime::{Label, Life, Place, Runs, Span};
use std::hash::{Hash, Hasher};

/// A claim on a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Hold {
    /// The owner.
    pub(super) life: Life,
    /// The step that gave it the slot.
    pub(super) since: Label,
}

/// One arena of one node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Space {
    pub(super) place: Place,
    /// How many slots there are.
    pub(super) slots: u32,
    /// How many cells a slot has.
    pub(super) width: u32,
    /// By slot.
    pub(super) owners: Runs<Option<Hold>>,
    /// By cell: which life wrote it. Freeing does not clear it, as it does not clear memory.
    pub(super) contents: Runs<Option<Life>>,
}

impl Hash for Space {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // The place and its bounds are declared once and never change along a run: they would only cost time.
        self.owners.hash(state);
        self.contents.hash(state);
    }
}

impl Space {
    /// A place in which all slots are free and no cell was ever written.
    pub(super) fn new(place: Place, slots: u32, width: u32) -> Self {
        assert!(width > 0, "a slot of {place:?} has at least one cell");
        let cells = slots.checked_mul(width).expect("the cells of a place are counted in 32 bits");
        Self { place, slots, width, owners: Runs::new(slots, None), contents: Runs::new(cells, None) }
    }

    /// The slots that the cells of a (non-empty) run lie in.
    pub(super) fn slots_of(&self, cells: Span) -> Span {
        slots_of(cells, self.width)
    }

    /// All cells of a run of slots.
    pub(super) fn cells_of(&self, slots: Span) -> Span {
        Span::new(slots.start * self.width, slots.len * self.width)
    }

    /// Cuts a run of cells where the owner of the slots changes.
    pub(super) fn owners_of(&self, cells: Span) -> impl Iterator<Item = (Span, Option<Hold>)> {
        self.owners
            .iter_in(self.slots_of(cells))
            .filter_map(move |(slots, owner)| Some((self.cells_of(slots).intersection(cells)?, owner)))
    }

    /// Panics unless every run lies within `0 .. limit`.
    pub(super) fn check(&self, runs: &[Span], limit: u32) {
        for run in runs {
            // Not `run.end() <= limit`: that may overflow.
            let fits = run.start <= limit && run.len <= limit - run.start;
            assert!(fits, "{run:?} is outside the {limit} of {:?}", self.place);
        }
    }
}
