//! What the oracle forgets, so that states repeat, and what it must not forget.

use super::kit::*;
use crate::lifetime::Verdict::{Failed, Rejected, Success};
use crate::lifetime::{Event, Kind};

/// Whether nothing is remembered after these events.
fn forgets<const N: usize>(events: [Event; N]) -> bool {
    Bench::after(events).oracle == Bench::new().oracle
}

#[test]
fn a_life_that_finished_and_gave_everything_back_is_forgotten() {
    assert!(forgets([begin(A), decide(A, 0, 0, Success), finish(A, Success)]));
    assert!(forgets([begin(A), alloc(A, DECODE, 0..1), finish(A, Success), free(A, DECODE, 0..1)]));
    assert!(forgets([begin(A), alloc(A, DECODE, 0..1), free(A, DECODE, 0..1), finish(A, Failed)]));
    assert!(forgets([begin(A), outgoing(1, A, DECODE, 0..1), finish(A, Failed), settle(1)]));
    assert!(forgets([alloc(A, DECODE, 0..1), decide(A, 0, 0, Success), free(A, DECODE, 0..1)]));
    assert!(forgets([begin(A), begin(A), finish(A, Success), finish(A, Success)]));
}

#[test]
fn a_life_of_which_something_is_left_is_not() {
    assert!(!forgets([begin(A)]));
    assert!(!forgets([begin(A), alloc(A, ROWS, 3..4), finish(A, Success)]));
    assert!(!forgets([begin(A), outgoing(1, A, DECODE, 0..1), finish(A, Success)]));
}

#[test]
fn a_decision_on_a_life_of_which_nothing_is_left_is_not_remembered() {
    assert!(forgets([decide(A, 0, 0, Success)]));
    assert!(forgets([begin(A), finish(A, Success), decide(A, 0, 1, Failed)]));
}

#[test]
fn decisions_last_as_long_as_the_life_owns_or_moves_something() {
    let mut bench = Bench::after([begin(A), alloc(A, ROWS, 3..4), decide(A, 0, 0, Success), finish(A, Success)]);
    assert_eq!(bench.kinds(decide(A, 0, 1, Rejected)), [Kind::Divergence]);
    let mut bench = Bench::after([outgoing(1, A, DECODE, 0..1), decide(A, 0, 0, Success), finish(A, Success)]);
    assert_eq!(bench.kinds(decide(A, 0, 1, Rejected)), [Kind::Divergence]);
    // What another life owns or moves keeps nothing.
    let mut bench = Bench::after([alloc(B, ROWS, 3..4), outgoing(1, B, DECODE, 0..1), decide(A, 0, 0, Success)]);
    assert_eq!(bench.kinds(decide(A, 0, 1, Rejected)), []);
}

#[test]
fn a_robbed_life_and_one_whose_access_was_replaced_are_forgotten() {
    let decided = |bench: &mut Bench| bench.clean([decide(A, 0, 0, Success)]);
    // Robbed of its only slot.
    let mut robbed = Bench::after([alloc(A, DECODE, 0..1)]);
    decided(&mut robbed);
    robbed.step(alloc(B, DECODE, 0..1));
    let plain = Bench::after([settle(9), settle(9), alloc(B, DECODE, 0..1)]);
    assert_eq!(robbed.oracle, plain.oracle);
    // Its only access replaced.
    let mut replaced = Bench::after([outgoing(1, A, DECODE, 0..1)]);
    decided(&mut replaced);
    replaced.clean([outgoing(1, B, DECODE, 0..1)]);
    let plain = Bench::after([settle(9), settle(9), outgoing(1, B, DECODE, 0..1)]);
    assert_eq!(replaced.oracle, plain.oracle);
}

#[test]
fn without_a_decision_there_is_nothing_to_remember_of_a_finished_life() {
    let finished = Bench::after([begin(A), finish(A, Success), alloc(A, DECODE, 0..1)]);
    let never = Bench::after([settle(9), settle(9), alloc(A, DECODE, 0..1)]);
    assert_eq!(finished.oracle, never.oracle);
    let owning = Bench::after([begin(A), alloc(A, DECODE, 0..1), finish(A, Success)]);
    let never = Bench::after([settle(9), alloc(A, DECODE, 0..1)]);
    assert_eq!(owning.oracle, never.oracle);
}

#[test]
fn growing_keeps_the_step_that_gave_the_slot() {
    let mut bench = Bench::after([alloc(A, DECODE, 0..1)]);
    let before = bench.oracle.clone();
    bench.clean([alloc(A, DECODE, 0..1)]);
    assert_eq!(bench.oracle, before);
}

#[test]
fn a_second_begin_keeps_the_first() {
    let mut bench = Bench::after([begin(A)]);
    let before = bench.oracle.clone();
    bench.clean([begin(A)]);
    assert_eq!(bench.oracle, before);
}
