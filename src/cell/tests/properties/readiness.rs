//! Enabled means: would do something. Exactly.

use super::walk::{any_scope, any_switches, configs, names, walk};
use crate::cell::{Cell, Config, Ctx, PrefillHealth, Probe, Site, Step};
use crate::explore::{Protocol, Random, Serving, StepClass};
use crate::lifetime::Event;
use crate::platform::Local;

/// Remembers only whether anything was said.
#[derive(Default)]
struct Heard(bool);

impl Probe for Heard {
    fn emit(&mut self, _: Site, _: &Event) {
        self.0 = true;
    }
}

/// Takes an actor's step without asking whether it is enabled; `None` for the steps of nobody in particular.
fn forced(cell: &Cell<Local>, step: Step, config: &Config) -> Option<(Cell<Local>, bool)> {
    let mut after = cell.clone();
    let mut heard = Heard::default();
    let world = cell.world.clone();
    let mut ctx = Ctx { world: &world, config, probe: &mut heard };
    match step {
        Step::Prefill => after.prefill.tick(&mut ctx),
        Step::ForwardEnds => after.prefill.end_forward(&mut ctx),
        Step::Worker(rank) => {
            after.workers[usize::from(rank)].step(&mut ctx);
        }
        Step::Decode => after.decode.tick(&mut ctx),
        _ => return None,
    }
    after.world = world;
    Some((after, heard.0))
}

fn check(config: Config, seed: u64, length: usize) {
    let serving = Serving::new(config);
    let config = serving.config();
    walk(&serving, seed, length, |state, enabled, _| {
        let said = || format!("{}, seed {seed}, {:?}\n{state:#?}", config.scope.name, names(config.switches));
        let workers = (0..config.scope.prefill_ranks).map(Step::Worker);
        for step in [Step::Prefill, Step::ForwardEnds, Step::Decode].into_iter().chain(workers) {
            let dead = state.cell.health != PrefillHealth::Alive && step != Step::Decode;
            if dead || enabled.contains(&step) {
                continue;
            }
            let (after, heard) = forced(&state.cell, step, config).unwrap();
            assert!(!heard && after == state.cell, "{step} is disabled and does something: {}", said());
        }
        for step in enabled.iter().filter(|step| serving.class(step) == StepClass::Progress) {
            let mut after = state.clone();
            let mut found = Vec::new();
            serving.apply(&mut after, step, &mut found);
            assert!(after != *state || !found.is_empty(), "{step} is enabled and does nothing: {}", said());
        }
    });
}

#[test]
fn a_disabled_actor_does_nothing_and_an_enabled_one_does_something_in_shipped_scopes() {
    for config in configs(6) {
        for seed in 0..12 {
            check(config.clone(), seed, 60);
        }
    }
}

#[test]
fn a_disabled_actor_does_nothing_and_an_enabled_one_does_something_in_any_scope() {
    let mut random = Random::new(11, 0);
    for seed in 0..1500 {
        check(Config { scope: any_scope(&mut random), switches: any_switches(&mut random) }, seed, 60);
    }
}
