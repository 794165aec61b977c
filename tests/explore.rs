//! The explorers, on the page machine.

use pagefence::explore::{Budget, ExhaustiveOptions, PageMachine, StopReason, exhaustive};

#[test]
fn reference_machine_has_its_known_size() {
    let machine = PageMachine::new(4, 3, 2);
    let options = ExhaustiveOptions { jobs: 2, ..ExhaustiveOptions::default() };
    let all = exhaustive(&machine, &options, &Budget::default());
    assert_eq!((all.states, all.transitions, all.depth), (2_791_024, 13_374_064, 32));
    assert_eq!((all.stop, all.closed, all.self_loops, all.findings.len()), (StopReason::Closed, true, 0, 0));
    let classes = exhaustive(&machine, &ExhaustiveOptions { symmetry: true, ..options }, &Budget::default());
    assert_eq!((classes.states, classes.depth, classes.closed), (21_852, 32, true));
}
