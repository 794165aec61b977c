//! Legal behaviour that looks odd. None of it may be reported.

use super::kit::*;
use crate::lifetime::Verdict::{Aborted, Success};
use crate::lifetime::{Cells, Event, Oracle};

/// Nothing is left, nobody is stuck, and the oracle remembers nothing but content.
fn all_returned(bench: &Bench) {
    assert_eq!(bench.quiesce(&[TREE]), []);
}

#[test]
fn a_full_prefix_hit_sends_no_kv_but_still_metadata() {
    let bench = Bench::after([
        alloc(TREE, DECODE, 0..2),
        write(TREE, DECODE, 0..8),
        begin(A),
        alloc(A, ROWS, 0..1),
        post(1, A, None, cells(DECODE, [])),
        incoming(2, A, ROWS, 0..1),
        land(1, 0..1),
        settle(1),
        land(2, 0..1),
        settle(2),
        read(A, ROWS, 0..1),
        read(TREE, DECODE, 0..8),
        free(A, ROWS, 0..1),
        finish(A, Success),
    ]);
    all_returned(&bench);
}

#[test]
fn a_metadata_row_says_not_yet_until_it_lands() {
    let bench = Bench::after([
        begin(B),
        alloc(B, ROWS, 0..1),
        write(B, ROWS, 0..1),
        free(B, ROWS, 0..1),
        finish(B, Success),
        // A polls the row that still holds B's bytes; it consumes it only when its own room is in it.
        begin(A),
        alloc(A, ROWS, 0..1),
        incoming(1, A, ROWS, 0..1),
        land(1, 0..1),
        settle(1),
        read(A, ROWS, 0..1),
        free(A, ROWS, 0..1),
        finish(A, Success),
    ]);
    all_returned(&bench);
}

#[test]
fn a_running_request_with_a_pending_finish_enters_a_queue_again() {
    let bench = Bench::after([
        begin(A),
        decide(A, 0, 0, Success),
        alloc(A, DECODE, 0..1),
        decide(A, 1, 0, Aborted),
        decide(A, 1, 1, Aborted),
        // Back in the queue, it runs one more step and completes after all.
        alloc(A, DECODE, 0..2),
        write(A, DECODE, 0..5),
        read(A, DECODE, 0..5),
        decide(A, 2, 0, Success),
        finish(A, Success),
        free(A, DECODE, 0..2),
    ]);
    all_returned(&bench);
}

#[test]
fn a_page_is_filled_in_part_and_grows() {
    let bench = Bench::after([
        alloc(A, DECODE, 0..1),
        write(A, DECODE, 0..2),
        read(A, DECODE, 0..2),
        alloc(A, DECODE, 0..1),
        write(A, DECODE, 2..3),
        read(A, DECODE, 0..3),
        alloc(A, DECODE, 0..2),
        write(A, DECODE, 3..6),
        read(A, DECODE, 0..6),
        free(A, DECODE, 0..2),
    ]);
    all_returned(&bench);
}

#[test]
fn bytes_land_after_a_reported_failure_but_before_the_free() {
    let bench = Bench::after([
        begin(A),
        alloc(A, DECODE, 0..2),
        incoming(1, A, DECODE, 0..8),
        land(1, 0..3),
        // The initiator gives up and tells the client; the pages are held until the access settles.
        finish(A, crate::lifetime::Verdict::Failed),
        land(1, 3..8),
        land(1, 0..8),
        settle(1),
        free(A, DECODE, 0..2),
    ]);
    all_returned(&bench);
}

#[test]
fn a_slot_is_reused_after_settle() {
    let bench = Bench::after([
        alloc(A, PREFILL, 0..2),
        write(A, PREFILL, 0..8),
        alloc(A, DECODE, 0..2),
        post(1, A, cells(PREFILL, [0..8]), cells(DECODE, [0..8])),
        land(1, 0..8),
        settle(1),
        free(A, PREFILL, 0..2),
        read(A, DECODE, 0..8),
        free(A, DECODE, 0..2),
        alloc(B, PREFILL, 0..2),
        alloc(B, DECODE, 0..2),
        write(B, PREFILL, 0..8),
        post(1, B, cells(PREFILL, [0..8]), cells(DECODE, [0..8])),
        land(1, 4..8),
        land(1, 0..4),
        settle(1),
        read(B, DECODE, 0..8),
        free(B, DECODE, 0..2),
        free(B, PREFILL, 0..2),
    ]);
    all_returned(&bench);
}

#[test]
fn a_new_oracle_has_nothing_to_say() {
    let mut out = Vec::new();
    Oracle::default().quiesce(crate::lifetime::Label(0), &[], &mut out);
    assert_eq!(out, []);
    Bench::after([Event::Read { life: A, cells: Cells { place: DECODE, runs: spans([]) } }]);
}
