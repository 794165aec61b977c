//! Which slots a story is about.

use super::marks::Marks;
use crate::cell::{Config, is_decode};
use crate::lifetime::{Arena, Place, Violation};
use crate::report::objects::{LOOK, OTHER, OWN, other_end, watch};
use crate::report::timeline::{Lane, WatchedSlot};

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
    let lane = |place: Place| if is_decode(place.node) { Lane::Decode } else { Lane::Prefill };
    places.into_iter().filter_map(|at| watch(config, lane(at.0), at)).collect()
}
