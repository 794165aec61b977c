//! The memory of all places: who owns each slot, and whose content each cell holds.

use crate::few::{Few, clone_by_field};
use crate::lifetime::{Cells, Label, Life, Place, Runs, Slots, Span};
use std::hash::{Hash, Hasher};

/// A claim on a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Hold {
    /// The owner.
    pub(super) life: Life,
    /// The step that gave it the slot.
    pub(super) since: Label,
}

/// Where a declared place lies in the memory of all places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Region {
    pub(super) place: Place,
    /// How many slots there are.
    pub(super) slots: u32,
    /// How many cells a slot has.
    pub(super) width: u32,
    /// The number of its slot 0 among the slots of all places.
    first_slot: u32,
    /// The number of its cell 0 among the cells of all places.
    first_cell: u32,
}

impl Region {
    /// The slots that the cells of a (non-empty) run lie in.
    pub(super) const fn slots_of(self, cells: Span) -> Span {
        cells.slots(self.width)
    }

    /// All cells of a run of slots.
    pub(super) const fn cells_of(self, slots: Span) -> Span {
        Span::new(slots.start * self.width, slots.len * self.width)
    }

    /// Panics unless every run lies within `0 .. limit`.
    fn check(self, runs: &[Span], limit: u32) {
        for run in runs {
            // Not `run.end() <= limit`: that may overflow.
            let fits = run.start <= limit && run.len <= limit - run.start;
            assert!(fits, "{run:?} is outside the {limit} of {:?}", self.place);
        }
    }
}

/// The memory of all declared places, laid end to end in the order of their declaration: one state is two lists of
/// runs, however many places there are, and cloning or hashing it is cheap. Indices that come in and go out are those
/// of a place.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Memory {
    regions: Few<Region, 4>,
    /// By slot.
    owners: Runs<Option<Hold>, 8>,
    /// By cell: which life wrote it. Freeing does not clear it, as it does not clear memory.
    contents: Runs<Option<Life>, 12>,
}

clone_by_field!(Memory { regions, owners, contents });

impl Hash for Memory {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // Regions are declared once and never change along a run: they would only cost time.
        self.owners.hash(state);
        self.contents.hash(state);
    }
}

impl Memory {
    /// Adds a place in which all slots are free and no cell was ever written.
    pub(super) fn declare(&mut self, place: Place, slots: u32, width: u32) {
        assert!(self.find(place).is_none(), "{place:?} is declared twice");
        assert!(width > 0, "a slot of {place:?} has at least one cell");
        let cells = slots.checked_mul(width).filter(|cells| self.contents.len().checked_add(*cells).is_some());
        let cells = cells.expect("the cells of all places are counted in 32 bits");
        let (first_slot, first_cell) = (self.owners.len(), self.contents.len());
        self.regions.push(Region { place, slots, width, first_slot, first_cell });
        self.owners.extend(slots, None);
        self.contents.extend(cells, None);
    }

    /// Where a place is, if it is declared.
    pub(super) fn find(&self, place: Place) -> Option<Region> {
        self.regions.iter().find(|region| region.place == place).copied()
    }

    /// All places, in the order of their declaration.
    pub(super) fn regions(&self) -> impl Iterator<Item = Region> {
        self.regions.iter().copied()
    }

    /// How many runs the memory takes.
    pub(super) fn segments(&self) -> usize {
        self.owners.segments() + self.contents.segments()
    }

    /// Where some slots are. Panics when they are outside what is declared.
    pub(super) fn of_slots(&self, slots: &Slots) -> Region {
        let region = self.declared(slots.place);
        region.check(&slots.runs, region.slots);
        region
    }

    /// Where some cells are. Panics when they are outside what is declared.
    pub(super) fn of_cells(&self, cells: &Cells) -> Region {
        let region = self.declared(cells.place);
        region.check(&cells.runs, region.slots * region.width);
        region
    }

    fn declared(&self, place: Place) -> Region {
        self.find(place).unwrap_or_else(|| panic!("{place:?} was never declared"))
    }

    /// The owners of a run of slots.
    pub(super) fn owners(&self, region: Region, slots: Span) -> impl Iterator<Item = (Span, Option<Hold>)> {
        let base = region.first_slot;
        let moved = Span::new(base + slots.start, slots.len);
        self.owners.iter_in(moved).map(move |(span, owner)| (Span::new(span.start - base, span.len), owner))
    }

    /// The owners of the slots of a (non-empty) run of cells: the run is cut where the owner changes.
    pub(super) fn owners_of(&self, region: Region, cells: Span) -> impl Iterator<Item = (Span, Option<Hold>)> {
        self.owners(region, region.slots_of(cells))
            .filter_map(move |(slots, owner)| Some((region.cells_of(slots).intersection(cells)?, owner)))
    }

    /// The contents of a run of cells.
    pub(super) fn contents(&self, region: Region, cells: Span) -> impl Iterator<Item = (Span, Option<Life>)> {
        let base = region.first_cell;
        let moved = Span::new(base + cells.start, cells.len);
        self.contents.iter_in(moved).map(move |(span, content)| (Span::new(span.start - base, span.len), content))
    }

    /// Whether a life owns a slot anywhere.
    pub(super) fn is_owner(&self, life: Life) -> bool {
        self.owners.iter().any(|(_, owner)| owner.is_some_and(|owner| owner.life == life))
    }

    /// Gives a run of slots to somebody, or to nobody.
    pub(super) fn give(&mut self, region: Region, slots: Span, owner: Option<Hold>) {
        self.owners.set(Span::new(region.first_slot + slots.start, slots.len), owner);
    }

    /// Fills a run of cells.
    pub(super) fn fill(&mut self, region: Region, cells: Span, content: Option<Life>) {
        self.contents.set(Span::new(region.first_cell + cells.start, cells.len), content);
    }
}
