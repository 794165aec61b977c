//! Who a slot belongs to: double-alloc, double-free, foreign-free, leak.

use super::kit::*;
use crate::lifetime::{Event, Kind, Label, Slots, Violation};

#[test]
fn a_slot_of_another_life_is_not_to_be_given_away() {
    let mut bench = Bench::after([alloc(A, DECODE, 2..4)]);
    assert_eq!(
        bench.step(alloc(B, DECODE, 3..5)),
        [Violation {
            place: Some(DECODE),
            slots: spans([3..4]),
            other: Some(A),
            started: Some(Label(1)),
            ..bare(Kind::DoubleAlloc, B, 2)
        }]
    );
    // The new owner has it from now on: the same fault is not reported again.
    bench.clean([alloc(B, DECODE, 3..5), free(B, DECODE, 3..5)]);
}

#[test]
fn another_slot_another_place_and_ones_own_slot_may_be_allocated() {
    Bench::after([
        alloc(A, DECODE, 2..4),
        alloc(B, DECODE, 4..5),
        alloc(B, DECODE, 0..2),
        alloc(B, PREFILL, 2..4),
        alloc(A, DECODE, 2..4),
    ]);
}

#[test]
fn each_robbed_life_is_named_once_with_the_step_of_its_lowest_slot() {
    let mut bench =
        Bench::after([alloc(A, DECODE, 5..6), alloc(B, DECODE, 3..4), alloc(A, DECODE, 1..2), alloc(A, DECODE, 2..3)]);
    let robbed = |slots, other, started| Violation {
        place: Some(DECODE),
        slots,
        other: Some(other),
        started: Some(Label(started)),
        ..bare(Kind::DoubleAlloc, TREE, 5)
    };
    let runs = spans([4..8, 0..4]);
    assert_eq!(
        bench.step(Event::Alloc { life: TREE, slots: Slots { place: DECODE, runs } }),
        [robbed(spans([1..3, 5..6]), A, 3), robbed(spans([3..4]), B, 2)]
    );
}

#[test]
fn a_slot_that_nobody_owns_is_not_to_be_freed() {
    let mut bench = Bench::after([alloc(A, DECODE, 2..4), free(A, DECODE, 2..3)]);
    assert_eq!(
        bench.step(free(A, DECODE, 2..4)),
        [Violation { place: Some(DECODE), slots: spans([2..3]), ..bare(Kind::DoubleFree, A, 3) }]
    );
    // What the event did own is free.
    assert_eq!(bench.oracle.owner(DECODE, 3), None);
}

#[test]
fn what_was_given_again_may_be_freed_again() {
    Bench::after([alloc(A, DECODE, 2..3), free(A, DECODE, 2..3), alloc(A, DECODE, 2..3), free(A, DECODE, 2..3)]);
}

#[test]
fn an_index_twice_in_one_list_is_freed_twice() {
    let mut bench = Bench::after([alloc(A, DECODE, 0..4)]);
    let twice = Event::Free { life: A, slots: Slots { place: DECODE, runs: spans([0..2, 1..3]) } };
    assert_eq!(
        bench.step(twice),
        [Violation { place: Some(DECODE), slots: spans([1..2]), ..bare(Kind::DoubleFree, A, 2) }]
    );
}

#[test]
fn a_slot_of_another_life_is_not_to_be_freed() {
    let mut bench = Bench::after([alloc(A, DECODE, 2..4)]);
    assert_eq!(
        bench.step(free(A1, DECODE, 2..4)),
        [Violation {
            place: Some(DECODE),
            slots: spans([2..4]),
            other: Some(A),
            started: Some(Label(1)),
            ..bare(Kind::ForeignFree, A1, 2)
        }]
    );
    // It stays with its owner, whose own free is not reported on top.
    bench.clean([write(A, DECODE, 8..16), free(A, DECODE, 2..4)]);
}

#[test]
fn the_owner_may_free() {
    Bench::after([alloc(A1, DECODE, 2..4), free(A1, DECODE, 2..4)]);
}

#[test]
fn what_is_owned_when_all_is_done_has_leaked() {
    let mut bench = Bench::after([alloc(A, DECODE, 4..5), alloc(A, DECODE, 1..2), alloc(A, ROWS, 0..1)]);
    bench.clean([alloc(B, DECODE, 2..4), alloc(TREE, DECODE, 7..8)]);
    let leak = |place, slots, life, started| Violation {
        place: Some(place),
        slots,
        started: Some(Label(started)),
        ..bare(Kind::Leak, life, 99)
    };
    assert_eq!(
        bench.quiesce(&[TREE]),
        [leak(DECODE, spans([1..2, 4..5]), A, 2), leak(DECODE, spans([2..4]), B, 4), leak(ROWS, spans([0..1]), A, 3),]
    );
}

#[test]
fn what_is_free_or_held_has_not_leaked() {
    let bench = Bench::after([alloc(A, DECODE, 1..3), free(A, DECODE, 1..3), alloc(TREE, DECODE, 4..8)]);
    assert_eq!(bench.quiesce(&[TREE]), []);
}
