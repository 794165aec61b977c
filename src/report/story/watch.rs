//! Which slots a story is about.

use super::marks::Marks;
use super::objects::{Object, node};
use crate::cell::{Config, is_decode};
use crate::lifetime::{Arena, Place, Violation};
use crate::report::timeline::{Lane, WatchedSlot};

/// Columns that a violation's own slots may take, and those at the other end of its access.
const OWN: usize = 4;
const OTHER: usize = 2;
/// The slots at the other end are looked for among so many: a transfer may have a hundred thousand.
const LOOK: usize = 4096;
/// A slot with more cells is not drawn: a picture holds each of them.
const WIDEST: u32 = 1 << 16;

/// The slots of the violation, then those at the other end of its access; where it has none, slots of its life.
pub(super) fn watched(config: &Config, marks: &Marks<'_>, main: Option<&Violation>) -> Vec<WatchedSlot> {
    let mut places: Vec<(Place, u32)> = Vec::new();
    if let Some(violation) = main {
        if let Some(place) = violation.place {
            let slots = violation.slots.iter().flat_map(|run| run.start..run.end());
            places.extend(slots.take(OWN).map(|slot| (place, slot)));
        }
        if let Some((source, target)) = violation.op.and_then(|op| marks.ends(op)) {
            places.extend(other_end(&places, source.as_ref(), target.as_ref()));
        }
    }
    if places.is_empty() {
        let life = main.map(|violation| violation.life);
        // Decode first: what goes wrong shows there.
        for decode in [true, false] {
            let given = marks.given().filter(|(place, _, owner)| {
                place.arena == Arena::KvPage
                    && is_decode(place.node) == decode
                    && life.is_none_or(|life| life == *owner)
            });
            let mut found: Vec<(Place, u32)> = Vec::new();
            for slot in
                given.flat_map(|(place, run, _)| (run.start..run.end()).map(move |slot| (place, slot))).take(LOOK)
            {
                if found.len() < OTHER && !found.contains(&slot) {
                    found.push(slot);
                }
            }
            places.extend(found);
        }
    }
    places.into_iter().filter(|(place, _)| config.width(place.arena) <= WIDEST).map(|at| slot(config, at)).collect()
}

/// The slots that the access joins with those that are shown already.
fn other_end(shown: &[(Place, u32)], source: Option<&Object>, target: Option<&Object>) -> Vec<(Place, u32)> {
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

fn slot(config: &Config, (place, index): (Place, u32)) -> WatchedSlot {
    let what = if place.arena == Arena::MetadataRow { "row".to_owned() } else { place.arena.to_string() };
    let label = format!("{} {what} {index}", node(config, place));
    let lane = if is_decode(place.node) { Lane::Decode } else { Lane::Prefill };
    WatchedSlot::new(label, lane, place, index, config.width(place.arena))
}
