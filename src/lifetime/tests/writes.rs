//! Bytes that move: write-after-free, read-after-free by an access, and where content goes.

use super::kit::*;
use crate::lifetime::{Cells, Event, Kind, Label, Life, OpId, Place, Span, Violation};

/// Whose content a run of cells holds.
fn contents(bench: &Bench, place: Place, cells: std::ops::Range<u32>) -> Vec<Option<Life>> {
    cells.map(|cell| bench.oracle.content(place, cell)).collect()
}

#[test]
fn only_the_owner_may_write() {
    let mut bench = Bench::after([alloc(B, DECODE, 1..2), alloc(A, DECODE, 0..1)]);
    let wrong = |slots, cells, other, started: Option<u32>| Violation {
        place: Some(DECODE),
        slots,
        cells,
        other,
        started: started.map(Label),
        ..bare(Kind::WriteAfterFree, A, 3)
    };
    assert_eq!(
        bench.step(write(A, DECODE, 2..9)),
        [wrong(spans([1..2]), 4, Some(B), Some(1)), wrong(spans([2..3]), 1, None, None)]
    );
    // Memory takes it all the same.
    assert_eq!(
        contents(&bench, DECODE, 1..10),
        [None, Some(A), Some(A), Some(A), Some(A), Some(A), Some(A), Some(A), None]
    );
}

#[test]
fn the_owner_may_write_to_the_last_cell() {
    Bench::after([alloc(A, DECODE, 0..1), write(A, DECODE, 0..4)]);
}

#[test]
fn a_landing_must_hit_a_slot_of_its_life() {
    let mut bench = Bench::after([alloc(A, DECODE, 0..3), incoming(7, A, DECODE, 2..11)]);
    bench.step(free(A, DECODE, 0..2));
    bench.step(alloc(B, DECODE, 0..1));
    let wrong = |slots, cells, other| Violation {
        place: Some(DECODE),
        slots,
        cells,
        other,
        op: Some(OpId(7)),
        started: Some(Label(2)),
        released: Some(Label(3)),
        ..bare(Kind::WriteAfterFree, A, 5)
    };
    assert_eq!(bench.step(land(7, 0..9)), [wrong(spans([0..1]), 2, Some(B)), wrong(spans([1..2]), 4, None)]);
    assert_eq!(contents(&bench, DECODE, 1..4), [None, Some(A), Some(A)]);
}

#[test]
fn the_part_that_lands_is_counted_along_the_runs_of_the_target() {
    let mut bench =
        Bench::after([alloc(A, DECODE, 0..4), post(7, A, None, cells(DECODE, [12..14, 0..3])), land(7, 1..4)]);
    assert_eq!(contents(&bench, DECODE, 11..15), [None, None, Some(A), None]);
    assert_eq!(contents(&bench, DECODE, 0..3), [Some(A), Some(A), None]);
    // Landing again, and past the end, moves what there is.
    bench.clean([land(7, 4..90), land(7, 5..6), Event::Land { op: OpId(7), part: Span::new(4, u32::MAX) }]);
    assert_eq!(contents(&bench, DECODE, 0..4), [Some(A), Some(A), Some(A), None]);
}

#[test]
fn a_landing_beside_the_freed_slot_is_fine() {
    let mut bench = Bench::after([alloc(A, DECODE, 0..2), incoming(7, A, DECODE, 0..8)]);
    bench.step(free(A, DECODE, 0..1));
    bench.clean([land(7, 4..8)]);
    assert_eq!(bench.kinds(land(7, 3..8)), [Kind::WriteAfterFree]);
}

#[test]
fn an_access_must_take_bytes_from_a_slot_of_its_life() {
    let mut bench = Bench::after([
        alloc(A, PREFILL, 0..2),
        write(A, PREFILL, 0..8),
        alloc(A, DECODE, 0..2),
        post(7, A, cells(PREFILL, [0..8]), cells(DECODE, [0..8])),
    ]);
    bench.step(free(A, PREFILL, 1..2));
    bench.step(alloc(B, PREFILL, 1..2));
    assert_eq!(
        bench.step(land(7, 2..6)),
        [Violation {
            place: Some(PREFILL),
            slots: spans([1..2]),
            cells: 2,
            other: Some(B),
            op: Some(OpId(7)),
            started: Some(Label(4)),
            released: Some(Label(5)),
            ..bare(Kind::ReadAfterFree, A, 7)
        }]
    );
    bench.clean([land(7, 0..4)]);
}

#[test]
fn a_read_that_leaves_the_model_is_judged_by_its_source() {
    let mut bench = Bench::after([alloc(A, PREFILL, 0..1), outgoing(7, A, PREFILL, 0..8), land(7, 0..4)]);
    assert_eq!(
        bench.step(land(7, 3..8)),
        [Violation {
            place: Some(PREFILL),
            slots: spans([1..2]),
            cells: 4,
            op: Some(OpId(7)),
            started: Some(Label(2)),
            ..bare(Kind::ReadAfterFree, A, 4)
        }]
    );
}

#[test]
fn content_flows_from_source_to_target_cell_by_cell() {
    let mut bench = Bench::after([
        alloc(B, PREFILL, 0..1),
        write(B, PREFILL, 0..4),
        free(B, PREFILL, 0..1),
        alloc(A, PREFILL, 0..2),
        write(A, PREFILL, 2..5),
        alloc(A, DECODE, 0..4),
        post(7, A, cells(PREFILL, [4..6, 1..4]), cells(DECODE, [9..10, 0..6])),
        land(7, 0..7),
    ]);
    // Source cells: 4 (A), 5 (never written), 1 (B), 2 (A), 3 (A), then nothing: the life's own.
    assert_eq!(contents(&bench, DECODE, 9..10), [Some(A)]);
    assert_eq!(contents(&bench, DECODE, 0..7), [None, Some(B), Some(A), Some(A), Some(A), Some(A), None]);
    // The content of this moment: what changes at the source later comes with the next landing.
    bench.clean([write(A, PREFILL, 0..8), land(7, 1..2)]);
    assert_eq!(contents(&bench, DECODE, 0..2), [Some(A), Some(B)]);
}

#[test]
fn an_overlapping_move_picks_everything_up_first() {
    let mut bench = Bench::after([
        alloc(A, DECODE, 0..2),
        write(A, DECODE, 0..1),
        post(7, A, cells(DECODE, [0..4]), cells(DECODE, [1..5])),
        land(7, 0..4),
    ]);
    assert_eq!(contents(&bench, DECODE, 0..5), [Some(A), Some(A), None, None, None]);
    bench.clean([settle(7)]);
}

#[test]
fn nothing_lands_after_settle() {
    let mut bench =
        Bench::after([alloc(A, DECODE, 0..1), incoming(7, A, DECODE, 0..4), settle(7), free(A, DECODE, 0..1)]);
    bench.clean([land(7, 0..4), settle(7), post(8, A, None, None), land(8, 0..4)]);
    assert_eq!(contents(&bench, DECODE, 0..4), [None; 4]);
}

#[test]
fn empty_runs_are_nothing() {
    Bench::after([
        write(A, DECODE, 0..0),
        read(A, DECODE, 4..4),
        alloc(A, DECODE, 0..0),
        free(A, DECODE, 0..0),
        post(7, A, cells(DECODE, [3..3]), cells(DECODE, [0..0, 5..5])),
        land(7, 0..4),
    ]);
}

fn outside(event: &Event) -> bool {
    let bench = Bench::new();
    let mut oracle = bench.oracle;
    std::panic::catch_unwind(move || oracle.apply(Label(0), event, &mut Vec::new())).is_err()
}

#[test]
fn cells_and_slots_outside_what_is_declared_panic() {
    let elsewhere = Place { node: crate::lifetime::Node(9), ..DECODE };
    let huge = |start| Cells { place: DECODE, runs: [Span::new(start, u32::MAX)].into_iter().collect() };
    assert!(!outside(&write(A, DECODE, 0..32)));
    assert!(!outside(&alloc(A, DECODE, 0..8)));
    assert!(outside(&write(A, DECODE, 0..33)));
    assert!(outside(&read(A, DECODE, 32..33)));
    assert!(outside(&alloc(A, DECODE, 0..9)));
    assert!(outside(&free(A, DECODE, 33..34)));
    assert!(outside(&alloc(A, elsewhere, 0..1)));
    assert!(outside(&post(1, A, cells(DECODE, [0..33]), None)));
    assert!(outside(&post(1, A, None, cells(elsewhere, [0..1]))));
    assert!(outside(&Event::Write { life: A, cells: huge(1) }));
    assert!(outside(&Event::Post { op: OpId(1), life: A, source: None, target: Some(huge(2)) }));
}
