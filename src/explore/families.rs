//! How often each kind of step was taken.

use serde::{Serialize, Serializer};

/// Steps taken, by [`family`](super::Protocol::family).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Families([u64; Self::COUNT]);

impl Families {
    /// How many families there may be.
    pub const COUNT: usize = 64;

    /// How often steps of this family were taken.
    #[must_use]
    pub fn count(&self, family: u8) -> u64 {
        self.0[usize::from(family)]
    }

    /// All counts, indexed by family.
    #[must_use]
    pub const fn counts(&self) -> &[u64; Self::COUNT] {
        &self.0
    }

    #[inline]
    pub(super) fn add(&mut self, family: u8) {
        self.0[usize::from(family)] += 1;
    }

    pub(super) fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine += theirs;
        }
    }

    pub(super) fn clear(&mut self) {
        self.0.fill(0);
    }
}

impl Default for Families {
    fn default() -> Self {
        Self([0; Self::COUNT])
    }
}

impl Serialize for Families {
    /// As a plain list, up to the last family that was taken.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let len = self.0.iter().rposition(|&n| n > 0).map_or(0, |last| last + 1);
        serializer.collect_seq(&self.0[..len])
    }
}
