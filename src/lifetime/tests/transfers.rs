//! Accesses in flight: free-in-flight, reuse-in-flight, and how one climbs to exposure.

use super::kit::*;
use crate::lifetime::{Event, Kind, Label, OpId, Severity, Slots, Violation};

#[test]
fn a_slot_is_not_to_be_freed_under_an_access() {
    let mut bench = Bench::after([alloc(A, DECODE, 0..4), incoming(7, A, DECODE, 2..9)]);
    assert_eq!(
        bench.step(free(A, DECODE, 1..4)),
        [Violation {
            place: Some(DECODE),
            slots: spans([1..3]),
            op: Some(OpId(7)),
            started: Some(Label(2)),
            released: Some(Label(3)),
            ..bare(Kind::FreeInFlight, A, 3)
        }]
    );
    // The first step that freed under it stays the one that is named.
    let found = bench.step(free(A, DECODE, 0..1));
    assert_eq!((found[0].kind, found[0].released), (Kind::FreeInFlight, Some(Label(3))));
}

#[test]
fn an_access_that_reads_holds_its_slots_too() {
    let mut bench = Bench::after([alloc(A, PREFILL, 0..4), post(7, A, cells(PREFILL, [9..12, 0..1]), None)]);
    bench.clean([free(A, PREFILL, 1..2)]);
    let found = bench.step(free(A, PREFILL, 2..4));
    assert_eq!((found[0].kind, found[0].slots.clone()), (Kind::FreeInFlight, spans([2..3])));
}

#[test]
fn every_access_of_the_life_under_its_freed_slot_is_named() {
    let mut bench = Bench::after([
        alloc(A, DECODE, 0..2),
        outgoing(9, A, DECODE, 0..8),
        post(8, A, cells(DECODE, [4..5]), cells(DECODE, [0..1])),
    ]);
    let freed = |op, started| Violation {
        place: Some(DECODE),
        slots: spans([0..2]),
        op: Some(OpId(op)),
        started: Some(Label(started)),
        released: Some(Label(4)),
        ..bare(Kind::FreeInFlight, A, 4)
    };
    assert_eq!(bench.step(free(A, DECODE, 0..2)), [freed(8, 3), freed(9, 2)]);
}

#[test]
fn a_slot_that_was_given_away_under_an_access_is_not_reported_again_when_its_new_owner_frees_it() {
    let mut bench = Bench::after([alloc(A, DECODE, 0..2), outgoing(9, B, DECODE, 0..8)]);
    bench.clean([free(A, DECODE, 0..2)]);
}

#[test]
fn what_was_settled_or_lies_beside_the_access_may_be_freed() {
    Bench::after([
        alloc(A, DECODE, 0..4),
        alloc(A, PREFILL, 0..4),
        incoming(7, A, DECODE, 4..12),
        free(A, DECODE, 0..1),
        free(A, DECODE, 3..4),
        free(A, PREFILL, 0..4),
        settle(7),
        free(A, DECODE, 1..3),
    ]);
}

#[test]
fn a_free_that_frees_nothing_is_not_in_flight() {
    let mut bench = Bench::after([alloc(A, DECODE, 0..1), incoming(7, A, DECODE, 0..8)]);
    assert_eq!(bench.kinds(free(B, DECODE, 0..1)), [Kind::ForeignFree]);
    assert_eq!(bench.kinds(free(A, DECODE, 1..2)), [Kind::DoubleFree]);
    assert_eq!(bench.oracle.live_ops().next().unwrap().target_released, None);
}

/// A owns two pages and has them filled; then they are freed too early.
fn freed_in_flight() -> Bench {
    let mut bench = Bench::after([alloc(A, DECODE, 0..2), incoming(7, A, DECODE, 0..8)]);
    assert_eq!(bench.kinds(free(A, DECODE, 0..2)), [Kind::FreeInFlight]);
    bench
}

#[test]
fn a_slot_with_an_access_of_another_life_is_not_to_be_given_away() {
    let mut bench = freed_in_flight();
    assert_eq!(
        bench.step(alloc(B, DECODE, 1..3)),
        [Violation {
            place: Some(DECODE),
            slots: spans([1..2]),
            other: Some(B),
            op: Some(OpId(7)),
            started: Some(Label(2)),
            released: Some(Label(3)),
            ..bare(Kind::ReuseInFlight, A, 4)
        }]
    );
    // Growing on it is no second fault.
    bench.clean([alloc(B, DECODE, 1..3)]);
}

#[test]
fn a_reading_access_of_another_life_counts_too() {
    let mut bench = Bench::after([outgoing(7, A, DECODE, 0..8)]);
    assert_eq!(bench.kinds(alloc(B, DECODE, 0..1)), [Kind::ReuseInFlight]);
}

#[test]
fn reuse_by_the_same_life_beside_the_access_or_after_settle_is_fine() {
    freed_in_flight().clean([alloc(A, DECODE, 0..2)]);
    freed_in_flight().clean([alloc(B, DECODE, 2..4), alloc(B, PREFILL, 0..2)]);
    freed_in_flight().clean([settle(7), alloc(B, DECODE, 0..2)]);
}

#[test]
fn a_second_attempt_is_another_life() {
    assert_eq!(freed_in_flight().kinds(alloc(A1, DECODE, 0..2)), [Kind::ReuseInFlight]);
}

#[test]
fn a_robbed_slot_with_an_access_is_two_facts() {
    let mut bench = Bench::after([alloc(A, DECODE, 0..2), incoming(7, A, DECODE, 0..8)]);
    assert_eq!(bench.kinds(alloc(B, DECODE, 0..2)), [Kind::DoubleAlloc, Kind::ReuseInFlight]);
}

#[test]
fn a_name_that_is_posted_again_counts_as_settled() {
    let mut bench = Bench::after([alloc(A, DECODE, 0..4), incoming(7, A, DECODE, 0..8), incoming(7, A, DECODE, 8..9)]);
    bench.clean([free(A, DECODE, 0..2)]);
    assert_eq!(bench.kinds(free(A, DECODE, 2..3)), [Kind::FreeInFlight]);
}

#[test]
fn severity_climbs_along_one_run() {
    let mut bench = Bench::after([
        alloc(A, PREFILL, 0..2),
        write(A, PREFILL, 0..8),
        alloc(A, DECODE, 0..2),
        post(7, A, cells(PREFILL, [0..8]), cells(DECODE, [0..8])),
    ]);
    let mut climb = |event: Event| bench.step(event).iter().map(|found| found.kind.severity()).collect::<Vec<_>>();
    assert_eq!(climb(free(A, DECODE, 0..2)), [Severity::Hazard]);
    assert_eq!(climb(alloc(B, DECODE, 0..2)), [Severity::Race]);
    assert_eq!(climb(write(B, DECODE, 0..8)), []);
    assert_eq!(climb(land(7, 0..8)), [Severity::Corruption]);
    assert_eq!(climb(settle(7)), []);
    assert_eq!(climb(read(B, DECODE, 0..8)), [Severity::Exposure]);
}

#[test]
fn runs_posted_out_of_order_are_reported_in_order() {
    let runs = [28..30, 24..26, 8..16, 6..7, 0..1, 14..18];
    let mut bench = Bench::after([alloc(A, DECODE, 0..8), post(7, A, None, cells(DECODE, runs))]);
    let found = bench.step(Event::Free { life: A, slots: Slots { place: DECODE, runs: spans([0..8]) } });
    assert_eq!(found[0].slots, spans([0..5, 6..8]));
}
