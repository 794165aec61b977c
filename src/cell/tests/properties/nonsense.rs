//! Any list of steps is a script.

use super::walk::{any_scope, any_switches, names};
use crate::cell::{Config, Lane, Step};
use crate::explore::{Protocol, Random, Serving, Walker};
use std::ops::ControlFlow;

/// A number that is often small and sometimes anything.
fn number(random: &mut Random) -> u8 {
    if random.below(4) == 0 { random.word() as u8 } else { random.below(4) as u8 }
}

/// Any step at all.
fn any_step(random: &mut Random) -> Step {
    let mut next = || number(random);
    let (from, to) = (next(), next());
    let lane = [Lane::ToPrefill { from, to }, Lane::ToDecode { from, to }, Lane::Aux { from, to }];
    let lane = lane[usize::from(next()) % 3];
    match next() % 16 {
        0 => Step::Submit,
        1 => Step::Abort(from),
        2 => Step::Disconnect(from),
        3 => Step::Prefill,
        4 => Step::ForwardEnds,
        5 => Step::Worker(from),
        6 => Step::Decode,
        7 => Step::Deliver(lane),
        8 => Step::Lose(lane),
        9 => Step::Land { op: from, piece: to },
        10 => Step::TransferError(from),
        11 => Step::TransferTimeout(from),
        12 => Step::KillPrefill,
        13 => Step::ReplacePrefill,
        14 => Step::Heartbeat,
        _ => Step::Elapse,
    }
}

/// A script of which about half makes sense, and then a drain. A step that is not enabled must change nothing.
fn run(config: Config, seed: u64, length: usize) {
    let serving = Serving::new(config);
    let mut random = Random::new(seed, 2);
    let mut walker = Walker::new(&serving);
    for _ in 0..length {
        let enabled = walker.enabled().to_vec();
        let step = match enabled.len() as u64 {
            0 => any_step(&mut random),
            count if random.below(2) == 0 => enabled[random.below(count) as usize],
            _ => any_step(&mut random),
        };
        let before = walker.state().clone();
        let found = walker.take(&step).len();
        if !enabled.contains(&step) {
            assert!(found == 0 && *walker.state() == before, "{step} was not enabled");
        }
    }
    let drained = walker.drain(20_000, |_| ControlFlow::Continue(()));
    let config = serving.config();
    assert!(!drained.livelock, "{} seed {seed} {:?}", config.scope.name, names(config.switches));
}

#[test]
fn shipped_scopes_under_random_profiles_take_any_script() {
    let mut random = Random::new(14, 0);
    for scope in crate::library::scopes() {
        for seed in 0..150 {
            run(Config { switches: any_switches(&mut random), scope: scope.clone() }, seed, 120);
        }
    }
}

#[test]
fn any_scope_under_a_random_profile_takes_any_script() {
    let mut random = Random::new(15, 0);
    for seed in 0..4000 {
        let config = Config { scope: any_scope(&mut random), switches: any_switches(&mut random) };
        run(config, seed, 120);
    }
}

#[test]
fn a_script_that_is_all_nonsense_does_nothing_harmful() {
    let mut random = Random::new(16, 0);
    for seed in 0..500 {
        let serving = Serving::new(Config { scope: any_scope(&mut random), switches: any_switches(&mut random) });
        let mut state = serving.initial();
        let mut steps = Random::new(seed, 4);
        for _ in 0..300 {
            serving.apply(&mut state, &any_step(&mut steps), &mut Vec::new());
        }
    }
}
