//! Heat maps: a table in which a colour says how much, and a number says it too.

use super::table::Tone;
use serde::{Deserialize, Serialize};

/// A table of squares under headings, a name before each row.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HeatMap {
    /// What it shows.
    pub caption: String,
    /// The headings of the columns.
    pub head: Vec<String>,
    /// The rows, each with its name.
    pub rows: Vec<(String, Vec<Square>)>,
}

/// One square.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Square {
    /// What stands in it: the number itself, since a colour must not be the only carrier of meaning.
    pub text: String,
    /// What it says to whoever points at it.
    pub title: String,
    /// How strong its colour is, from 0 to 1.
    pub heat: f32,
    /// Which colour.
    pub tone: Tone,
}

impl HeatMap {
    /// Puts `amount` on a scale that ends at `most`, by its logarithm: counts of walks differ by orders of magnitude, and the
    /// rare ones matter.
    #[must_use]
    pub fn heat(amount: u64, most: u64) -> f32 {
        let scale = |amount: u64| ((amount as f32) + 1.0).ln();
        if most == 0 { 0.0 } else { (scale(amount) / scale(most)).clamp(0.0, 1.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heat_grows_with_the_amount_and_stays_on_its_scale() {
        let heats = [0, 1, 10, 100, 1000, 5000].map(|amount| HeatMap::heat(amount, 1000));
        assert!(heats.is_sorted() && heats[0] == 0.0 && heats[1] > 0.05, "{heats:?}");
        assert_eq!((heats[4], heats[5], HeatMap::heat(3, 0)), (1.0, 1.0, 0.0));
    }
}
