//! The set of fingerprints.

/// An open-addressed set of 64-bit fingerprints: eight bytes a slot, one cache line a probe.
///
/// Fingerprints are already mixed, so their low bits are the address. By hand instead of `HashSet` because an
/// exhaustive search does little else: no control bytes, no second hash, and its exact size is known.
pub(super) struct Seen {
    /// A power of two of slots; zero is an empty one.
    slots: Vec<u64>,
    len: usize,
}

impl Seen {
    const SMALLEST: usize = 1 << 10;

    pub(super) fn new() -> Self {
        Self { slots: vec![0; Self::SMALLEST], len: 0 }
    }

    /// Adds a fingerprint; whether it is new.
    #[inline]
    pub(super) fn insert(&mut self, fingerprint: u64) -> bool {
        // At most 3/4 full: beyond, linear probing looks at more than a cache line or two.
        if self.len * 4 >= self.slots.len() * 3 {
            self.grow();
        }
        let new = Self::place(&mut self.slots, fingerprint);
        self.len += usize::from(new);
        new
    }

    #[inline]
    fn place(slots: &mut [u64], fingerprint: u64) -> bool {
        // Zero means empty, so the state whose fingerprint is zero shares the slot of the one whose is one.
        let fingerprint = fingerprint.max(1);
        let mask = slots.len() - 1;
        let mut at = fingerprint as usize & mask;
        loop {
            match slots[at] {
                0 => {
                    slots[at] = fingerprint;
                    return true;
                }
                found if found == fingerprint => return false,
                _ => at = (at + 1) & mask,
            }
        }
    }

    fn grow(&mut self) {
        let mut larger = vec![0; self.slots.len() * 2];
        for &fingerprint in self.slots.iter().filter(|&&slot| slot != 0) {
            Self::place(&mut larger, fingerprint);
        }
        self.slots = larger;
    }

    /// How many bytes it holds.
    pub(super) fn bytes(&self) -> usize {
        self.slots.len() * size_of::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::Random;
    use std::collections::HashSet;

    #[test]
    fn agrees_with_a_hash_set() {
        let (mut seen, mut set, mut random) = (Seen::new(), HashSet::new(), Random::new(1, 1));
        for _ in 0..20_000 {
            // Few distinct values, many of which share their low bits.
            let value = (random.below(100) << 40 | random.below(100)) + 1;
            assert_eq!(seen.insert(value), set.insert(value));
        }
        assert_eq!(seen.len, set.len());
    }

    #[test]
    fn zero_is_a_fingerprint_too() {
        let mut seen = Seen::new();
        assert!(seen.insert(0));
        assert!(!seen.insert(0));
    }

    #[test]
    fn stays_sparse_enough_to_be_fast() {
        let (mut seen, mut random) = (Seen::new(), Random::new(2, 2));
        for _ in 0..10_000 {
            seen.insert(random.word());
            assert!(seen.len * 4 <= seen.slots.len() * 3 + 4);
        }
        assert_eq!(seen.bytes(), seen.slots.len() * 8);
    }
}
