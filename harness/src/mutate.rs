//! Mutations that keep steps whole.
//!
//! A fuzzer that changes any byte spends half its inputs on the world, and one that inserts a byte shifts every step behind it.

use crate::input::{Input, MAX_OPS, Op};

/// A small source of numbers, from the seed that the fuzzer gives.
struct Numbers(u32);

impl Numbers {
    /// Xorshift: a seed of zero would stay zero.
    fn next(&mut self) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0 as usize
    }

    fn below(&mut self, limit: usize) -> usize {
        self.next() % limit.max(1)
    }

    fn op(&mut self) -> Op {
        Op { family: self.next() as u8, pick: self.next() as u8 }
    }
}

/// Changes one thing about the input in `bytes[..size]`, in place, so that at most `bytes.len()` are used; returns how many are.
/// The same seed makes the same change.
pub fn mutate(bytes: &mut [u8], size: usize, seed: u32) -> usize {
    let mut input = Input::from_bytes(&bytes[..size.min(bytes.len())]);
    change(&mut input, &mut Numbers(seed | 1));
    let made = input.to_bytes();
    let size = made.len().min(bytes.len());
    bytes[..size].copy_from_slice(&made[..size]);
    size
}

fn change(input: &mut Input, numbers: &mut Numbers) {
    let count = input.ops.len();
    let at = numbers.below(count);
    match numbers.below(16) {
        0 => input.profile = numbers.next() as u8,
        1 => input.scope = numbers.next() as u8,
        2 => input.producer = numbers.next() as u8,
        3..=6 if count < MAX_OPS => input.ops.insert(at, numbers.op()),
        7 | 8 if count < MAX_OPS => input.ops.push(numbers.op()),
        9 | 10 if count > 1 => {
            input.ops.remove(at);
        }
        11 if count > 1 => {
            let other = numbers.below(count);
            input.ops.swap(at, other);
        }
        12 if count > 1 => {
            // A run of steps again, elsewhere.
            let length = 1 + numbers.below((count - at).min(8));
            let run = input.ops[at..at + length].to_vec();
            let to = numbers.below(count);
            input.ops.splice(to..to, run);
            input.ops.truncate(MAX_OPS);
        }
        13 | 14 if count > 0 => input.ops[at].pick = numbers.next() as u8,
        _ if count > 0 => input.ops[at] = numbers.op(),
        _ => input.ops.push(numbers.op()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_mutation_fits_keeps_steps_whole_and_is_repeatable(
            mut bytes in prop::collection::vec(any::<u8>(), 3..300),
            room in 0_usize..40,
            seed in any::<u32>(),
        ) {
            let size = bytes.len();
            bytes.resize(size + room, 0);
            let mut again = bytes.clone();
            let made = mutate(&mut bytes, size, seed);
            prop_assert!(made <= bytes.len());
            prop_assert_eq!(mutate(&mut again, size, seed), made);
            prop_assert_eq!(again, bytes);
        }
    }

    #[test]
    fn every_part_of_an_input_is_changed_by_some_seed() {
        let start = Input { profile: 1, scope: 2, producer: 3, ops: vec![Op { family: 4, pick: 5 }; 3] };
        let bytes = start.to_bytes();
        let made: Vec<Input> = (0..2000)
            .map(|seed| {
                let mut bytes = [bytes.clone(), vec![0; 20]].concat();
                let size = mutate(&mut bytes, start.to_bytes().len(), seed * 7919);
                Input::from_bytes(&bytes[..size])
            })
            .collect();
        let some = |what: &dyn Fn(&Input) -> bool| made.iter().any(what);
        assert!(
            some(&|input| input.profile != 1) && some(&|input| input.scope != 2) && some(&|input| input.producer != 3)
        );
        assert!(some(&|input| input.ops.len() > 3) && some(&|input| input.ops.len() < 3));
        assert!(some(&|input| input.ops.len() == 3 && input.ops != start.ops));
    }
}
