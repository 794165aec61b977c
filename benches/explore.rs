//! How fast the explorers are, on the page machine of 4 requests, 3 pages and 2 attempts.
//!
//! Items are states, except for random walks, where they are steps. Compare ratios within one run: stateright searches
//! the same machine beside ours.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use pagefence::explore::{Budget, ExhaustiveOptions, Mix, PageMachine, PageState, PageStep, Protocol, SwarmOptions};
use pagefence::explore::{exhaustive, swarm};
use stateright::{Checker, Model, Property};

fn main() {
    divan::main();
}

const STATES: u64 = 2_791_024;

fn machine() -> PageMachine {
    PageMachine::new(4, 3, 2)
}

#[divan::bench(args = [1, 2], sample_count = 3, sample_size = 1)]
fn breadth_first(bencher: Bencher<'_, '_>, jobs: usize) {
    let options = ExhaustiveOptions { jobs, ..ExhaustiveOptions::default() };
    bencher.counter(ItemsCount::new(STATES)).bench(|| {
        let all = exhaustive(&machine(), &options, &Budget::default());
        assert_eq!(all.states, STATES);
    });
}

#[divan::bench(args = [1, 2], sample_count = 10, sample_size = 1)]
fn breadth_first_symmetry(bencher: Bencher<'_, '_>, jobs: usize) {
    let options = ExhaustiveOptions { jobs, symmetry: true, ..ExhaustiveOptions::default() };
    bencher.counter(ItemsCount::new(21_852u32)).bench(|| {
        let classes = exhaustive(&machine(), &options, &Budget::default());
        assert_eq!(classes.states, 21_852);
    });
}

#[divan::bench(args = [1, 2], sample_count = 3, sample_size = 1)]
fn stateright_breadth_first(bencher: Bencher<'_, '_>, threads: usize) {
    bencher.counter(ItemsCount::new(STATES)).bench(|| {
        let checker = Foreign(machine()).checker().threads(threads).spawn_bfs().join();
        assert_eq!(checker.unique_state_count() as u64, STATES);
    });
}

#[divan::bench(args = [Mix::Uniform, Mix::Swarm], sample_count = 10, sample_size = 1)]
fn random_walks(bencher: Bencher<'_, '_>, mix: Mix) {
    let options = SwarmOptions { mix, ..SwarmOptions::default() };
    let walk = || swarm(&machine(), black_box(&options), &Budget { walks: Some(20_000), ..Budget::default() }).steps;
    bencher.counter(ItemsCount::new(walk())).bench(walk);
}

/// The machine as stateright's model.
struct Foreign(PageMachine);

impl Model for Foreign {
    type State = PageState;
    type Action = PageStep;

    fn init_states(&self) -> Vec<PageState> {
        vec![self.0.initial()]
    }

    fn actions(&self, state: &PageState, actions: &mut Vec<PageStep>) {
        self.0.steps(state, actions);
    }

    fn next_state(&self, last: &PageState, step: PageStep) -> Option<PageState> {
        let mut next = last.clone();
        self.0.apply(&mut next, &step, &mut Vec::new());
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        // Without a property it stops at once.
        vec![Property::always("a state", |_, _| true)]
    }
}
