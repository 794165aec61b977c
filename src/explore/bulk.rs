//! Fingerprints of large states.

use super::fingerprint::{Fingerprinter, mix};
use std::hash::Hasher;

/// A hasher for states of hundreds of small fields: it packs them into bytes first and hashes those in bulk.
///
/// [`Fingerprinter`] multiplies once for each field, however small, and each multiplication waits for the one before.
/// Here a field is a store; whole blocks go through several multiplications side by side. What is packed can be read
/// back by whoever knows the type, so two states share their bytes only if they are equal.
#[derive(Clone, Debug)]
pub(super) struct Bulk {
    block: [u8; Self::BLOCK],
    /// How much of the block is in use.
    used: usize,
    lanes: [Fingerprinter; Self::LANES],
}

impl Bulk {
    const BLOCK: usize = 256;
    const WORD: usize = size_of::<u64>();
    const LANES: usize = 4;

    /// Appends the low `width` bytes of a word; the others are zero.
    #[inline(always)]
    fn put(&mut self, word: u64, width: usize) {
        if self.used > Self::BLOCK - Self::WORD {
            self.flush();
        }
        // All eight, since that is one store; the next field overwrites what is too much.
        self.block[self.used..self.used + Self::WORD].copy_from_slice(&word.to_le_bytes());
        self.used += width;
    }

    /// Hashes the block and empties it.
    #[cold]
    #[inline(never)]
    fn flush(&mut self) {
        let stripe = Self::LANES * Self::WORD;
        let padded = self.used.next_multiple_of(stripe);
        self.block[self.used..padded].fill(0);
        // A copy, so that the lanes stay in registers.
        let mut lanes = self.lanes;
        for stripe in self.block[..padded].as_chunks::<{ Self::LANES * Self::WORD }>().0 {
            for (lane, word) in lanes.iter_mut().zip(stripe.as_chunks().0) {
                lane.write_u64(u64::from_le_bytes(*word));
            }
        }
        // How much of it counts is part of what is hashed: zeros at the end are not the same as nothing.
        lanes[0].write_u64(self.used as u64);
        self.lanes = lanes;
        self.used = 0;
    }

    #[cold]
    #[inline(never)]
    fn long(&mut self, i: usize) {
        self.put(i as u64, 8);
    }
}

impl Default for Bulk {
    fn default() -> Self {
        Self { block: [0; Self::BLOCK], used: 0, lanes: [Fingerprinter::default(); Self::LANES] }
    }
}

impl Hasher for Bulk {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.put(u64::from(*byte), 1));
    }

    #[inline(always)]
    fn write_u8(&mut self, i: u8) {
        self.put(u64::from(i), 1);
    }

    #[inline(always)]
    fn write_u16(&mut self, i: u16) {
        self.put(u64::from(i), 2);
    }

    #[inline(always)]
    fn write_u32(&mut self, i: u32) {
        self.put(u64::from(i), 4);
    }

    #[inline(always)]
    fn write_u64(&mut self, i: u64) {
        self.put(i, 8);
    }

    #[inline(always)]
    fn write_u128(&mut self, i: u128) {
        self.put(i as u64, 8);
        self.put((i >> 64) as u64, 8);
    }

    /// Lengths and variants: nearly always one byte, and then as good as none.
    #[inline(always)]
    fn write_usize(&mut self, i: usize) {
        self.put(i.min(0xff) as u64, 1);
        if i >= 0xff {
            self.long(i);
        }
    }

    #[inline(always)]
    fn write_isize(&mut self, i: isize) {
        self.write_usize(i as usize);
    }

    fn finish(&self) -> u64 {
        let mut last = self.clone();
        last.flush();
        last.lanes.iter().fold(0, |hash, lane| mix(hash.rotate_left(23) ^ lane.finish()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::hash::Hash;

    fn bulk<T: Hash + ?Sized>(value: &T) -> u64 {
        let mut hasher = Bulk::default();
        value.hash(&mut hasher);
        hasher.finish()
    }

    #[test]
    fn length_counts_across_blocks() {
        let zeros = [0; 3 * Bulk::BLOCK];
        let hash = |len: usize| {
            let mut hasher = Bulk::default();
            hasher.write(&zeros[..len]);
            hasher.finish()
        };
        let all: HashSet<u64> = (0..zeros.len()).map(hash).collect();
        assert_eq!(all.len(), zeros.len());
    }

    #[test]
    fn every_byte_counts() {
        let mut bytes = vec![0_u32; Bulk::BLOCK];
        let mut all = HashSet::from([bulk(&bytes)]);
        for at in 0..bytes.len() {
            for bit in 0..32 {
                bytes[at] = 1 << bit;
                assert!(all.insert(bulk(&bytes)), "bit {bit} of {at}");
            }
            bytes[at] = 0;
        }
    }

    #[test]
    fn lengths_that_need_more_than_a_byte() {
        let all: HashSet<u64> = (0..1000_usize).chain([usize::MAX]).map(|len| bulk(&len)).collect();
        assert_eq!(all.len(), 1001);
    }
}
