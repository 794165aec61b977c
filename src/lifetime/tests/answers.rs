//! What ranks decide and clients are told: false-success, wrong-usage, stuck, divergence, crash.

use super::kit::*;
use crate::lifetime::Verdict::{Aborted, Failed, Rejected, Success};
use crate::lifetime::{Event, Kind, Label, Node, Violation};

#[test]
fn a_refused_request_is_not_to_succeed() {
    for refusal in [Rejected, Failed] {
        let mut bench = Bench::after([begin(A), decide(A, 0, 0, refusal), decide(A, 1, 0, Success)]);
        let found = bench.step(finish(A, Success));
        assert_eq!(found, [Violation { started: Some(Label(2)), ..bare(Kind::FalseSuccess, A, 4) }]);
    }
}

#[test]
fn the_first_refusal_is_named_even_after_an_abort() {
    let mut bench =
        Bench::after([begin(A), decide(A, 0, 0, Aborted), decide(A, 1, 0, Failed), decide(A, 2, 0, Rejected)]);
    let found = bench.step(finish(A, Success));
    assert_eq!(found, [Violation { started: Some(Label(3)), ..bare(Kind::FalseSuccess, A, 5) }]);
}

#[test]
fn an_abort_that_comes_too_late_changes_nothing() {
    Bench::after([begin(A), decide(A, 0, 0, Aborted), finish(A, Success)]);
    Bench::after([begin(A), decide(A, 0, 0, Success), finish(A, Success)]);
}

#[test]
fn a_refusal_of_another_life_is_not_ones_own() {
    Bench::after([begin(A), begin(A1), decide(A, 0, 0, Rejected), finish(A1, Success), finish(A, Rejected)]);
}

#[test]
fn a_reason_is_not_to_be_weakened() {
    let mut bench =
        Bench::after([begin(A), decide(A, 0, 0, Success), decide(A, 1, 0, Rejected), decide(A, 2, 0, Failed)]);
    let found = bench.step(finish(A, Failed));
    assert_eq!(found, [Violation { started: Some(Label(3)), ..bare(Kind::FalseSuccess, A, 5) }]);
}

#[test]
fn what_may_be_told_as_a_failure() {
    Bench::after([begin(A), decide(A, 0, 0, Failed), decide(A, 1, 0, Rejected), finish(A, Failed)]);
    Bench::after([begin(A), decide(A, 0, 0, Aborted), decide(A, 1, 0, Rejected), finish(A, Failed)]);
    Bench::after([begin(A), decide(A, 0, 0, Success), finish(A, Failed)]);
    Bench::after([begin(A), finish(A, Failed)]);
    // The other end: told as it was decided, or that it was aborted.
    Bench::after([begin(A), decide(A, 0, 0, Rejected), finish(A, Rejected)]);
    Bench::after([begin(A), decide(A, 0, 0, Rejected), finish(A, Aborted)]);
    Bench::after([begin(A), decide(A, 0, 0, Failed), finish(A, Rejected)]);
}

#[test]
fn an_answer_holds_its_own_tokens() {
    let mut bench = Bench::after([begin(A)]);
    assert_eq!(
        bench.step(answer(A, 10, Some(A1), Some(10))),
        [Violation { other: Some(A1), started: Some(Label(1)), ..bare(Kind::FalseSuccess, A, 2) }]
    );
    Bench::after([begin(A), answer(A, 10, Some(A), Some(10))]);
    Bench::after([begin(A), answer(A, 10, None, None)]);
}

#[test]
fn usage_is_what_was_processed() {
    for (told, processed) in [(128, 1), (1, 128)] {
        let mut bench = Bench::after([begin(A)]);
        assert_eq!(
            bench.step(answer(A, told, None, Some(processed))),
            [Violation { cells: 127, started: Some(Label(1)), ..bare(Kind::WrongUsage, A, 2) }]
        );
    }
    Bench::after([answer(A, 128, None, Some(128)), answer(A, 128, None, None)]);
}

#[test]
fn only_a_success_has_tokens_and_usage() {
    for event in [finish(A, Failed), finish(A, Aborted), finish(A, Rejected)] {
        let Event::Finish { life, mut told, .. } = event else { unreachable!() };
        told.tokens_of = Some(B);
        Bench::after([begin(A), Event::Finish { life, told, processed: Some(1) }]);
    }
}

#[test]
fn a_life_that_nobody_saw_begin_is_judged_by_what_it_is_told() {
    let mut bench = Bench::new();
    assert_eq!(
        bench.step(answer(A, 10, Some(B), Some(9))),
        [
            Violation { other: Some(B), ..bare(Kind::FalseSuccess, A, 1) },
            Violation { cells: 1, ..bare(Kind::WrongUsage, A, 1) },
        ]
    );
}

#[test]
fn all_that_is_wrong_with_an_answer_is_said() {
    let mut bench = Bench::after([begin(A), decide(A, 0, 0, Rejected)]);
    let wrong = [Kind::FalseSuccess, Kind::FalseSuccess, Kind::WrongUsage];
    assert_eq!(bench.kinds(answer(A, 10, Some(B), Some(9))), wrong);
}

#[test]
fn a_second_answer_is_judged_too() {
    let mut bench = Bench::after([begin(A), alloc(A, DECODE, 0..1), decide(A, 0, 0, Rejected), finish(A, Rejected)]);
    assert_eq!(bench.kinds(finish(A, Success)), [Kind::FalseSuccess]);
}

#[test]
fn what_began_must_end() {
    let mut bench = Bench::after([begin(B), begin(A), begin(A1), begin(A), finish(A1, Success)]);
    let stuck = |life, started| Violation { started: Some(Label(started)), ..bare(Kind::Stuck, life, 99) };
    assert_eq!(bench.quiesce(&[A]), [stuck(A, 2), stuck(B, 1)]);
    assert_eq!(bench.oracle.unfinished().collect::<Vec<_>>(), [A, B]);
    bench.clean([finish(A, Aborted), finish(B, Failed)]);
    assert_eq!(bench.quiesce(&[]), []);
}

#[test]
fn what_owns_but_never_began_is_not_stuck() {
    let bench = Bench::after([alloc(TREE, DECODE, 0..1), decide(TREE, 0, 0, Success)]);
    assert_eq!(bench.quiesce(&[TREE]), []);
    assert_eq!(bench.oracle.unfinished().count(), 0);
}

#[test]
fn ranks_of_one_group_decide_alike() {
    let mut bench = Bench::after([begin(A), decide(A, 3, 0, Success), decide(A, 3, 1, Success)]);
    assert_eq!(
        bench.step(decide(A, 3, 2, Failed)),
        [Violation { started: Some(Label(2)), ..bare(Kind::Divergence, A, 4) }]
    );
    // Once is enough.
    bench.clean([decide(A, 3, 1, Aborted)]);
}

#[test]
fn another_group_another_life_or_the_same_rank_may_decide_otherwise() {
    Bench::after([
        begin(A),
        begin(A1),
        decide(A, 3, 0, Success),
        decide(A, 4, 1, Failed),
        decide(A1, 3, 1, Aborted),
        decide(A, 3, 0, Aborted),
        decide(A, 3, 1, Success),
    ]);
}

#[test]
fn a_crash_is_a_crash() {
    let mut bench = Bench::after([begin(A)]);
    assert_eq!(bench.step(Event::Crash { node: Node(1), life: A }), [bare(Kind::Crash, A, 2)]);
    bench.clean([finish(A, Failed)]);
}
