//! All declared places.

use super::space::Space;
use crate::lifetime::{Cells, Place, Slots};

/// The declared places, in ascending order: a declaration's turn leaves no trace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Spaces(Vec<Space>);

impl Spaces {
    /// Adds a place in which all slots are free.
    pub(super) fn declare(&mut self, place: Place, slots: u32, width: u32) {
        let at = self.0.partition_point(|space| space.place < place);
        let known = self.find(place).is_some();
        assert!(!known, "{place:?} is declared twice");
        self.0.insert(at, Space::new(place, slots, width));
    }

    pub(super) fn find(&self, place: Place) -> Option<&Space> {
        self.0.iter().find(|space| space.place == place)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Space> {
        self.0.iter()
    }

    /// Where some slots are. Panics when they are outside what is declared.
    pub(super) fn of_slots(&mut self, slots: &Slots) -> &mut Space {
        let space = self.at(slots.place);
        space.check(&slots.runs, space.slots);
        space
    }

    /// Where some cells are. Panics when they are outside what is declared.
    pub(super) fn of_cells(&mut self, cells: &Cells) -> &mut Space {
        let space = self.at(cells.place);
        space.check(&cells.runs, space.slots * space.width);
        space
    }

    fn at(&mut self, place: Place) -> &mut Space {
        let found = self.0.iter_mut().find(|space| space.place == place);
        found.unwrap_or_else(|| panic!("{place:?} was never declared"))
    }
}
