//! 64-bit names of states, stable across runs, (little-endian) machines and releases of dependencies.

use std::hash::{Hash, Hasher};

/// An odd constant without structure (2^64 divided by the golden ratio).
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
/// The multiplier of the hash: wyhash's first secret.
const SECRET: u64 = 0xa076_1d64_78bd_642f;

/// Mixes all bits of a word into all others (splitmix64's finaliser, a bijection).
#[must_use]
pub const fn mix(mut word: u64) -> u64 {
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// The hash behind [`fingerprint`]: one widening multiplication a word.
///
/// Our own, for two reasons. Pinned digests of state spaces must survive an update of a dependency. And the usual fast
/// hash (rustc-hash) sums words times powers of one constant modulo 2^64: two states that differ in the top bits of
/// two words collide, which packed states do; the upper half of a 128-bit product keeps those bits.
#[derive(Clone, Copy, Debug)]
pub struct Fingerprinter(u64);

impl Default for Fingerprinter {
    fn default() -> Self {
        Self(GOLDEN)
    }
}

impl Hasher for Fingerprinter {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.write_u64(u64::from_le_bytes(*word));
        }
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        // The length tells a short tail from one that is padded with zeros.
        self.write_u64(u64::from_le_bytes(last) ^ ((bytes.len() as u64) << 56));
    }

    #[inline]
    fn write_u8(&mut self, i: u8) {
        self.write_u64(u64::from(i));
    }

    #[inline]
    fn write_u16(&mut self, i: u16) {
        self.write_u64(u64::from(i));
    }

    #[inline]
    fn write_u32(&mut self, i: u32) {
        self.write_u64(u64::from(i));
    }

    #[inline]
    fn write_u64(&mut self, i: u64) {
        let product = u128::from((self.0 ^ i).wrapping_add(GOLDEN)) * u128::from(SECRET);
        // Adding the upper half, not xoring it in, and rotating keep the order of words in the result.
        self.0 = (product as u64).rotate_left(23) ^ ((product >> 64) as u64);
    }

    #[inline]
    fn write_usize(&mut self, i: usize) {
        self.write_u64(i as u64);
    }

    #[inline]
    fn finish(&self) -> u64 {
        mix(self.0)
    }
}

/// The fingerprint of a value.
///
/// A search over `n` states confuses two of them with odds of about `n² / 2^65`: one in 370,000 for ten million
/// states, one in 3,700 for a hundred million. A confusion hides states; it never invents a finding, because every
/// finding's script was really taken.
#[must_use]
#[inline]
pub fn fingerprint<T: Hash + ?Sized>(value: &T) -> u64 {
    let mut hasher = Fingerprinter::default();
    value.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn pinned_so_that_digests_last() {
        assert_eq!(fingerprint(&(1u8, 2u32, [3u8, 4])), 7_958_502_765_711_192_011);
    }

    #[test]
    fn top_bits_of_two_words_do_not_cancel() {
        let all: HashSet<u64> = (0..1u64 << 16).map(|i| fingerprint(&((i & 0xff) << 56, (i >> 8) << 56))).collect();
        assert_eq!(all.len(), 1 << 16);
    }

    #[test]
    fn order_and_length_matter() {
        assert_ne!(fingerprint(&[1u8, 2][..]), fingerprint(&[2u8, 1][..]));
        assert_ne!(fingerprint(&[1u64, 2]), fingerprint(&[2u64, 1]));
        assert_ne!(fingerprint("a"), fingerprint("a\0"));
        let (mut short, mut long) = (Fingerprinter::default(), Fingerprinter::default());
        short.write(&[1]);
        long.write(&[1, 0]);
        assert_ne!(short.finish(), long.finish());
    }

    #[test]
    fn small_values_spread_over_the_low_bits() {
        let low: HashSet<u64> = (0..1u64 << 12).map(|i| fingerprint(&i) & 0xffff).collect();
        assert!(low.len() > 3900, "{}", low.len());
    }
}
