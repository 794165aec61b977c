//! What a reader may rely on: stale-read, torn-read, read-after-free.

use super::kit::*;
use crate::lifetime::{Arena, Event, Kind, Label, Node, OpId, Oracle, Place, Violation};

#[test]
fn a_read_must_find_the_readers_own_content() {
    let mut bench = Bench::after([
        alloc(B, DECODE, 0..1),
        write(B, DECODE, 0..4),
        free(B, DECODE, 0..1),
        alloc(A, DECODE, 1..2),
        alloc(A, DECODE, 0..1),
        write(A, DECODE, 1..2),
        write(A, DECODE, 4..6),
    ]);
    let stale = |slots, cells, other, started| Violation {
        place: Some(DECODE),
        slots,
        cells,
        other,
        started: Some(Label(started)),
        ..bare(Kind::StaleRead, A, 8)
    };
    assert_eq!(
        bench.step(read(A, DECODE, 0..8)),
        [stale(spans([0..1]), 3, Some(B), 5), stale(spans([1..2]), 2, None, 4)]
    );
    bench.clean([read(A, DECODE, 1..2), read(A, DECODE, 4..6)]);
}

#[test]
fn what_the_first_attempt_wrote_is_not_the_seconds() {
    let mut bench = Bench::after([alloc(A, DECODE, 0..1), write(A, DECODE, 0..4), free(A, DECODE, 0..1)]);
    bench.clean([alloc(A1, DECODE, 0..1)]);
    let found = bench.step(read(A1, DECODE, 0..4));
    assert_eq!((found[0].kind, found[0].other, found[0].cells), (Kind::StaleRead, Some(A), 4));
}

#[test]
fn the_incident_in_small() {
    let mut oracle = Oracle::default();
    let pool = Place { node: Node(0), arena: Arena::KvPage };
    oracle.declare(pool, 8, 16);
    let mut bench = Bench { oracle, label: Label(0) };
    // The prompt was rejected: eight pages were taken for it, and one placeholder token was processed.
    bench.clean([alloc(A, pool, 0..8), write(A, pool, 0..1)]);
    assert_eq!(
        bench.step(read(A, pool, 0..128)),
        [Violation {
            place: Some(pool),
            slots: spans([0..8]),
            cells: 127,
            started: Some(Label(1)),
            ..bare(Kind::StaleRead, A, 3)
        }]
    );
    bench.clean([read(A, pool, 0..1)]);
}

#[test]
fn a_reader_must_own_what_it_reads() {
    let mut bench = Bench::after([
        alloc(A, DECODE, 0..4),
        write(A, DECODE, 0..16),
        free(A, DECODE, 1..4),
        alloc(B, DECODE, 3..4),
        alloc(B, DECODE, 1..2),
    ]);
    let gone = |slots, cells, other, started: Option<u32>| Violation {
        place: Some(DECODE),
        slots,
        cells,
        other,
        started: started.map(Label),
        ..bare(Kind::ReadAfterFree, A, 6)
    };
    // Its content is still there, which makes it no less wrong; and it is one fact, not a stale read too.
    assert_eq!(
        bench.step(read(A, DECODE, 2..14)),
        [gone(spans([1..2, 3..4]), 6, Some(B), Some(5)), gone(spans([2..3]), 4, None, None)]
    );
    bench.clean([read(A, DECODE, 0..4)]);
}

#[test]
fn a_read_under_a_live_write_is_torn() {
    let mut bench =
        Bench::after([alloc(A, DECODE, 0..3), write(A, DECODE, 0..12), incoming(7, A, DECODE, 7..9), land(7, 0..2)]);
    // All bytes have landed, but more may come until the access settles; and a slot is torn as a whole.
    assert_eq!(
        bench.step(read(A, DECODE, 0..6)),
        [Violation {
            place: Some(DECODE),
            slots: spans([1..2]),
            cells: 2,
            op: Some(OpId(7)),
            started: Some(Label(3)),
            ..bare(Kind::TornRead, A, 5)
        }]
    );
    bench.clean([read(A, DECODE, 0..4), settle(7), read(A, DECODE, 0..12)]);
}

#[test]
fn a_torn_read_names_the_writer_and_who_released_the_slot() {
    let mut bench = Bench::after([alloc(A, DECODE, 0..2), incoming(7, A, DECODE, 0..8)]);
    bench.step(free(A, DECODE, 0..2));
    bench.step(alloc(B, DECODE, 0..2));
    bench.clean([write(B, DECODE, 0..8)]);
    assert_eq!(
        bench.step(read(B, DECODE, 0..8)),
        [Violation {
            place: Some(DECODE),
            slots: spans([0..2]),
            cells: 8,
            other: Some(A),
            op: Some(OpId(7)),
            started: Some(Label(2)),
            released: Some(Label(3)),
            ..bare(Kind::TornRead, B, 6)
        }]
    );
}

#[test]
fn torn_and_stale_are_two_facts() {
    let mut bench = Bench::after([alloc(A, DECODE, 0..1), incoming(7, A, DECODE, 0..2), land(7, 0..1)]);
    assert_eq!(bench.kinds(read(A, DECODE, 0..2)), [Kind::TornRead, Kind::StaleRead]);
    assert_eq!(bench.kinds(read(B, DECODE, 0..1)), [Kind::TornRead, Kind::ReadAfterFree]);
}

#[test]
fn a_live_read_and_a_write_elsewhere_tear_nothing() {
    Bench::after([
        alloc(A, DECODE, 0..2),
        write(A, DECODE, 0..8),
        alloc(A, PREFILL, 0..2),
        incoming(7, A, PREFILL, 0..8),
        outgoing(8, A, DECODE, 0..8),
        incoming(9, A, DECODE, 4..8),
        read(A, DECODE, 0..4),
    ]);
}

#[test]
fn each_cell_of_a_torn_slot_counts_once_for_each_run_that_reads_it() {
    let mut bench = Bench::after([alloc(A, DECODE, 0..3), write(A, DECODE, 0..12)]);
    bench.clean([post(7, A, None, cells(DECODE, [3..4, 0..1, 9..10]))]);
    let both = Event::Read { life: A, cells: cells(DECODE, [2..9, 0..1]).unwrap() };
    let found = bench.step(both);
    assert_eq!((found.len(), found[0].cells, found[0].slots.clone()), (1, 4, spans([0..1, 2..3])));
}
