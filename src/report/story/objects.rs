//! Slots and cells in words: `A's pages 1-2`.

use crate::cell::{Config, is_decode};
use crate::lifetime::{Arena, Cells, Life, Place, Slots, Span};
use std::fmt::Write as _;

/// At most so many runs are named.
const RUNS: usize = 4;

/// Slots of a place, as runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Object {
    pub(super) place: Place,
    pub(super) runs: Vec<Span>,
}

impl From<&Slots> for Object {
    fn from(slots: &Slots) -> Self {
        Self { place: slots.place, runs: slots.runs.to_vec() }
    }
}

impl Object {
    /// The slots that cells lie in.
    pub(super) fn of_cells(config: &Config, cells: &Cells) -> Self {
        let width = config.width(cells.place.arena);
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
    pub(super) fn slots(&self) -> impl Iterator<Item = u32> + '_ {
        self.runs.iter().flat_map(|run| run.start..run.end())
    }

    /// `pages 1-2`, `metadata row 0`; nothing but runs is said of a long list.
    pub(super) fn text(&self) -> String {
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
    pub(super) fn placed(&self, config: &Config) -> String {
        format!("{} {}", node(config, self.place), self.text())
    }

    /// `A's pages 1-2`.
    pub(super) fn owned(&self, life: Life) -> String {
        format!("{life}'s {}", self.text())
    }
}

/// `decode`, or `decode 1` where it has several ranks.
pub(super) fn node(config: &Config, place: Place) -> String {
    let decode = is_decode(place.node);
    let (name, ranks) =
        if decode { ("decode", config.scope.decode_ranks) } else { ("prefill", config.scope.prefill_ranks) };
    if ranks > 1 { format!("{name} {}", rank(place)) } else { name.to_owned() }
}

/// Which rank of its server a place belongs to.
pub(super) fn rank(place: Place) -> u8 {
    if is_decode(place.node) { place.node.0 - crate::cell::decode_node(0).0 } else { place.node.0 }
}
