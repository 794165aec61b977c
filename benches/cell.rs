//! How fast the explorers are on the serving cell itself.
//!
//! Items are transitions in a search, steps in random walks, executions in a replay. Compare ratios within one run:
//! stateright searches the same cell beside ours.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use pagefence::cell::{Config, Profile, Scope, Step};
use pagefence::explore::{Budget, ExhaustiveOptions, Mix, Protocol, Serving, ServingState, StopReason, SwarmOptions};
use pagefence::explore::{Walker, exhaustive, swarm};
use pagefence::lifetime::Severity;
use stateright::{Checker, Model, Property};
use std::hash::{Hash, Hasher};
use std::sync::{Mutex, MutexGuard};

fn main() {
    divan::main();
}

/// The default scope: it closes.
const ABORT: &str = include_str!("../scopes/abort.toml");

fn serving(scope: &str, profile: &str) -> Serving {
    let scope: Scope = toml::from_str(scope).expect("a scope of the repository parses");
    let switches = Profile::preset(profile).expect("a known profile").switches;
    Serving::new(Config { switches, scope })
}

/// A path ends at the first corruption, in our search and in stateright's.
fn options(symmetry: bool, jobs: usize) -> ExhaustiveOptions {
    ExhaustiveOptions { symmetry, jobs, stop_at: Some(Severity::Corruption) }
}

#[divan::bench(args = [1, 2], sample_count = 3, sample_size = 1)]
fn breadth_first(bencher: Bencher<'_, '_>, jobs: usize) {
    search(bencher, &options(false, jobs));
}

#[divan::bench(args = [1, 2], sample_count = 3, sample_size = 1)]
fn breadth_first_symmetry(bencher: Bencher<'_, '_>, jobs: usize) {
    search(bencher, &options(true, jobs));
}

fn search(bencher: Bencher<'_, '_>, options: &ExhaustiveOptions) {
    let serving = serving(ABORT, "reference");
    let all = || exhaustive(&serving, options, &Budget::default());
    bencher.counter(ItemsCount::new(all().transitions)).bench(|| assert_eq!(all().stop, StopReason::Closed));
}

#[divan::bench(args = [1, 2], sample_count = 3, sample_size = 1)]
fn stateright_breadth_first(bencher: Bencher<'_, '_>, threads: usize) {
    let serving = serving(ABORT, "reference");
    let ours = exhaustive(&serving, &options(false, 1), &Budget::default());
    bencher.counter(ItemsCount::new(ours.transitions)).bench(|| {
        let checker = Foreign(serving.clone()).checker().threads(threads).spawn_bfs().join();
        assert_eq!(checker.unique_state_count() as u64, ours.states);
    });
}

#[divan::bench(args = [Mix::Uniform, Mix::Swarm], sample_count = 10, sample_size = 1)]
fn random_walks(bencher: Bencher<'_, '_>, mix: Mix) {
    let serving = serving(ABORT, "reference");
    let options = SwarmOptions { mix, jobs: 2, ..SwarmOptions::default() };
    let walk = || swarm(&serving, black_box(&options), &Budget { walks: Some(20_000), ..Budget::default() }).steps;
    bencher.counter(ItemsCount::new(walk())).bench(walk);
}

/// From nothing to the first corruption of the incident's release.
#[divan::bench(args = ["incident-small", "incident-full"], sample_count = 3, sample_size = 1)]
fn time_to_incident(bencher: Bencher<'_, '_>, scope: &str) {
    let scope = std::fs::read_to_string(format!("scopes/{scope}.toml")).expect("a scope of the repository");
    bencher.bench(|| {
        let budget = Budget { until: Some(Severity::Corruption), ..Budget::default() };
        let found = exhaustive(&serving(&scope, "sglang-0.5.11"), &options(true, 2), &budget);
        assert_eq!(found.stop, StopReason::Found);
    });
}

/// What one execution of a fuzzer costs: a script of 64 steps, enabled or not, and the judgement of each.
#[divan::bench(sample_count = 100, sample_size = 100)]
fn replay_64_steps(bencher: Bencher<'_, '_>) {
    let serving = serving(ABORT, "reference");
    let script = script(&serving, 64);
    let mut walker = Walker::new(&serving);
    bencher.counter(ItemsCount::new(1_u8)).bench_local(|| {
        walker.reset();
        for step in &script {
            black_box(walker.take(step));
        }
    });
}

/// Steps that a walk through all kinds of steps takes, over and over until there are enough of them.
fn script(serving: &Serving, len: usize) -> Vec<Step> {
    let mut walker = Walker::new(serving);
    let mut script = Vec::with_capacity(len);
    while script.len() < len {
        let enabled = walker.enabled();
        let Some(&step) = enabled.get(script.len() % enabled.len().max(1)) else {
            walker.reset();
            continue;
        };
        walker.take(&step);
        script.push(step);
    }
    script
}

/// The cell as stateright's model.
struct Foreign(Serving);

/// A state that stateright's threads may look at together, as it demands and the cell's single-threaded platform does
/// not allow. Nobody waits for these locks; they cost some nanoseconds of a transition's microseconds.
#[derive(Debug)]
struct Held(Mutex<ServingState>);

impl Held {
    fn get(&self) -> MutexGuard<'_, ServingState> {
        self.0.lock().expect("no search panics")
    }
}

impl Clone for Held {
    fn clone(&self) -> Self {
        Self(Mutex::new(self.get().clone()))
    }
}

impl PartialEq for Held {
    fn eq(&self, other: &Self) -> bool {
        *self.get() == *other.get()
    }
}

impl Hash for Held {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.get().hash(state);
    }
}

impl Model for Foreign {
    type State = Held;
    type Action = Step;

    fn init_states(&self) -> Vec<Held> {
        vec![Held(Mutex::new(self.0.initial()))]
    }

    fn actions(&self, state: &Held, actions: &mut Vec<Step>) {
        self.0.steps(&state.get(), actions);
    }

    fn next_state(&self, last: &Held, step: Step) -> Option<Held> {
        let (mut next, mut found) = (last.get().clone(), Vec::new());
        self.0.advance(&mut next, &step, &mut found);
        found.iter().all(|violation| violation.kind.severity() < Severity::Corruption).then(|| Held(Mutex::new(next)))
    }

    fn properties(&self) -> Vec<Property<Self>> {
        // Without a property it stops at once.
        vec![Property::always("a state", |_, _| true)]
    }
}
