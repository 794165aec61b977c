//! An independent checker on the same machine: stateright counts what our own search counts.

use pagefence::explore::{Budget, ExhaustiveOptions, PageMachine, PageState, PageStep, Plant, Protocol, exhaustive};
use stateright::{Checker, Model, Property};
use std::sync::atomic::{AtomicU64, Ordering};

/// The page machine as stateright's model; it counts the transitions that are asked of it.
struct Foreign {
    machine: PageMachine,
    transitions: AtomicU64,
}

impl Model for Foreign {
    type State = PageState;
    type Action = PageStep;

    fn init_states(&self) -> Vec<PageState> {
        vec![self.machine.initial()]
    }

    fn actions(&self, state: &PageState, actions: &mut Vec<PageStep>) {
        self.machine.steps(state, actions);
    }

    fn next_state(&self, last: &PageState, step: PageStep) -> Option<PageState> {
        self.transitions.fetch_add(1, Ordering::Relaxed);
        let mut next = last.clone();
        self.machine.apply(&mut next, &step, &mut Vec::new());
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        // Without a property it stops at once; with one that holds, it visits everything.
        vec![Property::always("a state is a state", |_, _| true)]
    }
}

#[test]
fn same_states_and_same_transitions() {
    for plant in [None, Some(Plant::AbortFreesEarly), Some(Plant::PageForgotten), Some(Plant::LandingLost)] {
        let machine = PageMachine::new(3, 2, 2).plant(plant);
        let options = ExhaustiveOptions { stop_at: None, ..ExhaustiveOptions::default() };
        let ours = exhaustive(&machine, &options, &Budget::default());
        let checker = Foreign { machine, transitions: AtomicU64::new(0) }.checker().spawn_bfs().join();
        assert!(checker.is_done() && ours.closed);
        assert_eq!(checker.unique_state_count() as u64, ours.states, "{plant:?}");
        assert_eq!(checker.model().transitions.load(Ordering::Relaxed), ours.transitions, "{plant:?}");
        // It counts the initial state as a level.
        assert_eq!(checker.max_depth() as u32, ours.depth + 1, "{plant:?}");
    }
}
