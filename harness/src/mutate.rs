//! Mutations that keep steps whole.
//!
//! A fuzzer that changes any byte spends half its inputs on the world, and one that inserts a byte shifts every step behind it.

use crate::input::{Input, MAX_OPS, Op};
use pagefence::explore::Random;

/// Changes one thing about the input in `bytes[..size]`, in place, so that at most `bytes.len()` are used; returns how many are.
/// The same seed makes the same change.
pub fn mutate(bytes: &mut [u8], size: usize, seed: u32) -> usize {
    let mut input = Input::from_bytes(&bytes[..size.min(bytes.len())]);
    change(&mut input, &mut Random::new(u64::from(seed), 0));
    let made = input.to_bytes();
    let size = made.len().min(bytes.len());
    bytes[..size].copy_from_slice(&made[..size]);
    size
}

fn change(input: &mut Input, random: &mut Random) {
    let count = input.ops.len();
    let mut below = |limit: usize| random.below(limit as u64) as usize;
    let (choice, at, other) = (below(16), below(count), below(count));
    let run = 1 + below((count - at).min(8));
    let mut byte = || random.word() as u8;
    match choice {
        0 => input.profile = byte(),
        1 => input.scope = byte(),
        2 => input.producer = byte(),
        9 | 10 if count > 1 => {
            input.ops.remove(at);
        }
        11 if count > 1 => input.ops.swap(at, other),
        12 if count > 1 => {
            // A run of steps again, elsewhere.
            let run = input.ops[at..at + run].to_vec();
            input.ops.splice(other..other, run);
            input.ops.truncate(MAX_OPS);
        }
        13 | 14 if count > 0 => input.ops[at].pick = byte(),
        15 if count > 0 => input.ops[at] = Op { family: byte(), pick: byte() },
        _ => {
            input.ops.insert(at, Op { family: byte(), pick: byte() });
            input.ops.truncate(MAX_OPS);
        }
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
