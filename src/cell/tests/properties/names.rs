//! Names of states: equal states share one, and with symmetry so do states that differ by a renaming of pages.

use super::walk::{any_scope, any_switches, configs, walk};
use crate::cell::Config;
use crate::cell::pool::Pool;
use crate::explore::{Protocol, Random, Serving, ServingState};
use crate::lifetime::{Slots, Spans};
use std::collections::HashMap;

#[test]
#[expect(clippy::mutable_key_type, reason = "nobody changes a state that is a key")]
fn equal_states_share_a_name_and_others_do_not() {
    for config in configs(0).filter(|config| config.scope.prefill_pages < 100) {
        let serving = Serving::new(config);
        let mut by_name: HashMap<u64, ServingState> = HashMap::new();
        let mut by_state: HashMap<ServingState, u64> = HashMap::new();
        for seed in 0..6 {
            walk(&serving, seed, 60, |state, _, _| {
                let name = serving.fingerprint(state, false);
                assert_eq!(*by_state.entry(state.clone()).or_insert(name), name);
                assert!(*by_name.entry(name).or_insert_with(|| state.clone()) == *state);
            });
        }
    }
}

/// Puts the free slots of a pool in another order.
fn shuffle(pool: &mut Pool, random: &mut Random) {
    let all = pool.take(pool.available()).unwrap();
    let mut slots: Vec<_> = all.runs.iter().flat_map(|run| run.start..run.end()).collect();
    while !slots.is_empty() {
        let slot = slots.swap_remove(random.below(slots.len() as u64) as usize);
        let run = crate::lifetime::Span::new(slot, 1);
        pool.give(&Slots { place: all.place, runs: Spans::from_slice(&[run]) }, true);
    }
}

/// Walks from the initial state and from one whose pages are used in another order, step by step alike. Nobody dies: a
/// new process starts with its pages in their natural order, whatever the dead one's memory held.
fn check(mut config: Config, seed: u64) {
    config.scope.faults.kills = 0;
    let serving = Serving::new(config);
    let mut random = Random::new(seed, 3);
    let mut renamed = serving.initial();
    for pool in renamed.cell.prefill.pools.iter_mut().chain(&mut renamed.cell.decode.pools) {
        shuffle(pool, &mut random);
    }
    walk(&serving, seed, 60, |state, _, step| {
        let names = [state, &renamed].map(|state| serving.fingerprint(state, true));
        assert_eq!(names[0], names[1], "{state:#?}\n{renamed:#?}");
        serving.apply(&mut renamed, &step, &mut Vec::new());
    });
}

#[test]
fn a_renaming_of_pages_does_not_change_the_symmetric_name() {
    for config in configs(2).filter(|config| config.scope.prefill_pages < 100) {
        for seed in 0..6 {
            check(config.clone(), seed);
        }
    }
    let mut random = Random::new(13, 0);
    for seed in 0..500 {
        check(Config { scope: any_scope(&mut random), switches: any_switches(&mut random) }, seed);
    }
}

#[test]
fn the_symmetric_name_tells_states_apart_that_are_no_renaming_of_each_other() {
    // Every state of a walk in which no page is used again is its own; so must its symmetric name be.
    for config in configs(0).filter(|config| config.scope.prefill_pages < 100) {
        let serving = Serving::new(config);
        let mut by_name: HashMap<u64, Vec<(u32, u32)>> = HashMap::new();
        walk(&serving, 5, 60, |state, _, _| {
            let free = |pools: &[Pool]| pools.iter().map(Pool::available).sum::<u32>();
            let (prefill, decode) = (&state.cell.prefill, &state.cell.decode);
            let sizes = vec![
                (free(&prefill.pools), free(&decode.pools)),
                (prefill.requests().len() as u32, decode.requests().len() as u32),
            ];
            let known = by_name.entry(serving.fingerprint(state, true)).or_insert_with(|| sizes.clone());
            assert_eq!(*known, sizes);
        });
    }
}
