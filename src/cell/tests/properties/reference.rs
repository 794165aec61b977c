//! The strictest design violates nothing, whatever goes wrong.

use crate::cell::{Config, Profile};
use crate::explore::{Moment, Random, Serving, Walker};
use std::ops::ControlFlow;

fn check(serving: &Serving, seed: u64) {
    let mut random = Random::new(seed, 5);
    let mut walker = Walker::new(serving);
    let length = 1 + random.below(100);
    let mut script = Vec::new();
    for _ in 0..length {
        let enabled = walker.enabled();
        let Some(&step) = enabled.get(random.below(enabled.len() as u64) as usize) else { break };
        script.push(step);
        let found = walker.take(&step).to_vec();
        assert!(found.is_empty(), "{}: {found:#?}\n{script:?}", serving.config().scope.name);
    }
    let drained = walker.drain(10_000, |moment: Moment<'_, Serving>| {
        let found = moment.violations();
        assert!(found.is_empty(), "{}: {found:#?} in the drain after\n{script:?}", serving.config().scope.name);
        ControlFlow::Continue(())
    });
    assert!(!drained.livelock);
}

#[test]
fn the_reference_survives_random_walks_and_drains_in_every_shipped_scope() {
    for scope in crate::library::scopes() {
        let serving = Serving::new(Config { switches: Profile::reference().switches, scope });
        for seed in 0..250 {
            check(&serving, seed);
        }
    }
}
