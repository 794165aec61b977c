//! Slots and cells in words: `A's pages 1-2`.

use super::timeline::{Lane, WatchedSlot};
use crate::lifetime::{Arena, Cells, Life, Place, Slots, Span};
use std::fmt::Write as _;

/// At most so many runs are named.
const RUNS: usize = 4;
/// Columns that the slots at the other end of an access may take.
pub(crate) const OTHER: usize = 2;
/// They are looked for among so many: a transfer may have a hundred thousand.
pub(crate) const LOOK: usize = 4096;
/// A slot with more cells is not drawn: a picture holds each of them.
const WIDEST: u32 = 1 << 16;
/// Columns that a violation's own slots may take.
pub(crate) const OWN: usize = 4;

/// What is known of the places that a story names: those of a cell, or those that a trace declares.
pub(crate) trait Places {
    /// How many cells a slot of this place has; at least one.
    fn cells_of(&self, place: Place) -> u32;

    /// What the process is called that owns it.
    fn node_of(&self, place: Place) -> String;
}

/// Slots of a place, as runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Object {
    pub(crate) place: Place,
    pub(crate) runs: Vec<Span>,
}

impl From<&Slots> for Object {
    fn from(slots: &Slots) -> Self {
        Self { place: slots.place, runs: slots.runs.to_vec() }
    }
}

impl Object {
    /// The slots that cells lie in.
    pub(crate) fn of_cells(places: &impl Places, cells: &Cells) -> Self {
        let width = places.cells_of(cells.place);
        let mut runs: Vec<Span> = Vec::new();
        for run in cells.runs.iter().filter(|run| run.len > 0) {
            let (first, last) = (run.start / width, (run.end() - 1) / width);
            match runs.last_mut() {
                Some(before) if before.end() >= first && before.start <= first => before.len = last + 1 - before.start,
                _ => runs.push(Span::new(first, last + 1 - first)),
            }
        }
        Self { place: cells.place, runs }
    }

    /// The slots, one by one, as long as anybody wants them.
    pub(crate) fn slots(&self) -> impl Iterator<Item = u32> + '_ {
        self.runs.iter().flat_map(|run| run.start..run.end())
    }

    /// `pages 1-2`, `metadata row 0`; nothing but runs is said of a long list.
    pub(crate) fn text(&self) -> String {
        let one = self.runs.iter().map(|run| u64::from(run.len)).sum::<u64>() == 1;
        let arena =
            if self.place.arena == Arena::MetadataRow { "row".to_owned() } else { self.place.arena.to_string() };
        let mut text = format!("{arena}{}", if one { "" } else { "s" });
        for (at, run) in self.runs.iter().take(RUNS).enumerate() {
            text.push_str(if at == 0 { " " } else { ", " });
            _ = if run.len == 1 {
                write!(text, "{}", run.start)
            } else {
                write!(text, "{}-{}", run.start, run.end() - 1)
            };
        }
        if self.runs.len() > RUNS {
            text.push_str(", …");
        }
        text
    }

    /// `decode pages 1-2`, `prefill 1 page 0` where a server has several ranks.
    pub(crate) fn placed(&self, places: &impl Places) -> String {
        format!("{} {}", places.node_of(self.place), self.text())
    }

    /// `A's pages 1-2`.
    pub(crate) fn owned(&self, life: Life) -> String {
        format!("{life}'s {}", self.text())
    }
}

/// The slots that an access joins with those that are shown already.
pub(crate) fn other_end(shown: &[(Place, u32)], source: Option<&Object>, target: Option<&Object>) -> Vec<(Place, u32)> {
    let (Some(source), Some(target)) = (source, target) else { return Vec::new() };
    let pairs = source.slots().zip(target.slots()).take(LOOK);
    let mut found = Vec::new();
    for (from, to) in pairs {
        for (this, that) in [((source.place, from), (target.place, to)), ((target.place, to), (source.place, from))] {
            if shown.contains(&this) && !shown.contains(&that) && !found.contains(&that) && found.len() < OTHER {
                found.push(that);
            }
        }
    }
    found
}

/// The column of a slot. Nothing if it has too many cells to be drawn.
pub(crate) fn watch(places: &impl Places, lane: Lane, (place, index): (Place, u32)) -> Option<WatchedSlot> {
    let what = if place.arena == Arena::MetadataRow { "row".to_owned() } else { place.arena.to_string() };
    let label = format!("{} {what} {index}", places.node_of(place));
    let cells = places.cells_of(place);
    (cells <= WIDEST).then(|| WatchedSlot::new(label, lane, place, index, cells))
}
