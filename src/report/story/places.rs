//! The places of a cell in words.

use crate::cell::{Config, is_decode};
use crate::lifetime::Place;
use crate::report::objects::Places;

impl Places for Config {
    fn cells_of(&self, place: Place) -> u32 {
        self.width(place.arena)
    }

    /// `decode`, or `decode 1` where it has several ranks.
    fn node_of(&self, place: Place) -> String {
        let decode = is_decode(place.node);
        let (name, ranks) =
            if decode { ("decode", self.scope.decode_ranks) } else { ("prefill", self.scope.prefill_ranks) };
        if ranks > 1 { format!("{name} {}", rank(place)) } else { name.to_owned() }
    }
}

/// Which rank of its server a place belongs to.
pub(super) fn rank(place: Place) -> u8 {
    if is_decode(place.node) { place.node.0 - crate::cell::decode_node(0).0 } else { place.node.0 }
}
