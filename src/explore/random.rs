//! The explorers' own random numbers.

use super::fingerprint::mix;

/// Splitmix64. Our own ten lines, because a seed that a finding carries must mean the same walk for years: it must not
/// depend on which `rand` proptest or shuttle happens to bring.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The generator of stream `index` of a seed; streams of one seed are unrelated.
    #[must_use]
    pub const fn new(seed: u64, index: u64) -> Self {
        // Mixed twice, so that neighbouring streams do not start at neighbouring states of one sequence.
        Self(mix(mix(seed) ^ index.wrapping_mul(0xd134_2543_de82_ef95)))
    }

    /// Any word.
    #[inline]
    pub const fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// A number below `bound`, zero if there is none. The bias, below `bound / 2^64`, is of no matter here.
    #[inline]
    pub const fn below(&mut self, bound: u64) -> u64 {
        ((self.word() as u128 * bound as u128) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_mean_the_same_for_ever() {
        let mut random = Random::new(42, 7);
        assert_eq!([random.word(), random.word()], [15_705_988_605_076_805_554, 6_712_425_513_696_646_331]);
    }

    #[test]
    fn below_covers_its_range_evenly() {
        let mut random = Random::new(1, 0);
        let mut hits = [0; 5];
        for _ in 0..5000 {
            hits[random.below(5) as usize] += 1;
        }
        assert!(hits.iter().all(|n| (850..1150).contains(n)), "{hits:?}");
        assert_eq!(random.below(0), 0);
    }
}
