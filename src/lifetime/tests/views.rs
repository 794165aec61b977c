//! What reports and timelines look at.

use super::kit::*;
use crate::lifetime::{Arena, Label, Node, OpId, Oracle, Place};

#[test]
fn places_are_known_by_their_bounds() {
    let oracle = Bench::new().oracle;
    let elsewhere = Place { node: Node(0), arena: Arena::HostPage };
    assert_eq!([DECODE, ROWS, elsewhere].map(|place| oracle.bounds(place)), [Some((8, 4)), Some((4, 1)), None]);
    assert_eq!([DECODE, elsewhere].map(|place| oracle.is_declared(place)), [true, false]);
}

#[test]
fn places_are_neighbours_but_not_one() {
    let mut oracle = Oracle::default();
    [ROWS, DECODE, PREFILL].into_iter().for_each(|place| oracle.declare(place, 2, 2));
    let mut bench = Bench { oracle, label: Label(0) };
    bench.clean([alloc(A, ROWS, 0..2), alloc(A, DECODE, 0..2), alloc(A, PREFILL, 1..2), write(A, PREFILL, 2..4)]);
    let owned: Vec<_> = bench.oracle.owned().collect();
    assert_eq!(owned, [(ROWS, A, span(0..2)), (DECODE, A, span(0..2)), (PREFILL, A, span(1..2))]);
    assert_eq!([ROWS, DECODE, PREFILL].map(|place| bench.oracle.content(place, 3)), [None, None, Some(A)]);
    // Past the end of one place is not the start of the next.
    bench.clean([write(A, DECODE, 0..1)]);
    assert_eq!((bench.oracle.owner(ROWS, 2), bench.oracle.content(ROWS, 4)), (None, None));
}

#[test]
fn a_place_may_be_declared_late() {
    let mut bench = Bench::after([alloc(A, ROWS, 3..4), write(A, ROWS, 3..4)]);
    let late = Place { node: Node(1), arena: Arena::HostPage };
    bench.oracle.declare(late, 3, 5);
    bench.clean([alloc(B, late, 0..3), write(B, late, 0..15), read(B, late, 0..15), read(A, ROWS, 3..4)]);
    assert_eq!(bench.oracle.bounds(late), Some((3, 5)));
}

#[test]
#[should_panic(expected = "declared twice")]
fn a_place_is_declared_once() {
    Bench::new().oracle.declare(ROWS, 4, 1);
}

#[test]
#[should_panic(expected = "at least one cell")]
fn a_slot_has_a_cell() {
    Oracle::default().declare(ROWS, 4, 0);
}

#[test]
#[should_panic(expected = "counted in 32 bits")]
fn a_place_is_not_too_large() {
    Oracle::default().declare(ROWS, 1 << 20, 1 << 12);
}

#[test]
#[should_panic(expected = "counted in 32 bits")]
fn all_places_together_are_not_too_large() {
    let mut oracle = Oracle::default();
    oracle.declare(ROWS, 1 << 20, 1 << 11);
    oracle.declare(DECODE, 1 << 20, 1 << 11);
}

#[test]
fn owners_and_contents_are_seen_slot_by_slot() {
    let bench = Bench::after([alloc(A, DECODE, 1..2), write(A, DECODE, 5..6)]);
    assert_eq!([0, 1, 2, 8].map(|slot| bench.oracle.owner(DECODE, slot)), [None, Some(A), None, None]);
    assert_eq!([4, 5, 6, 32].map(|cell| bench.oracle.content(DECODE, cell)), [None, Some(A), None, None]);
    let elsewhere = Place { node: Node(7), ..DECODE };
    assert_eq!((bench.oracle.owner(elsewhere, 1), bench.oracle.content(elsewhere, 5)), (None, None));
}

#[test]
fn what_is_owned_is_listed_in_whole_runs() {
    let bench = Bench::after([
        alloc(A, DECODE, 1..2),
        alloc(A, DECODE, 2..4),
        alloc(A, DECODE, 5..6),
        alloc(B, DECODE, 4..5),
        alloc(A, ROWS, 0..1),
        alloc(A, PREFILL, 7..8),
    ]);
    assert_eq!(
        bench.oracle.owned().collect::<Vec<_>>(),
        [
            (PREFILL, A, span(7..8)),
            (DECODE, A, span(1..4)),
            (DECODE, B, span(4..5)),
            (DECODE, A, span(5..6)),
            (ROWS, A, span(0..1)),
        ]
    );
}

#[test]
fn two_pieces_of_one_life_with_a_gap_are_two() {
    let bench = Bench::after([alloc(A, DECODE, 1..2), alloc(A, DECODE, 3..4)]);
    let owned: Vec<_> = bench.oracle.owned().collect();
    assert_eq!(owned, [(DECODE, A, span(1..2)), (DECODE, A, span(3..4))]);
}

#[test]
fn accesses_in_flight_are_seen_with_what_has_landed() {
    let source = cells(PREFILL, [0..2, 2..4, 9..9, 4..6]);
    let target = cells(DECODE, [4..8, 0..2]);
    let mut bench = Bench::after([outgoing(9, B, PREFILL, 28..31), alloc(A, PREFILL, 0..2), alloc(A, DECODE, 0..2)]);
    bench.clean([post(7, A, source, target.clone()), land(7, 0..1), land(7, 3..5), post(8, A, None, None)]);
    let ops: Vec<_> = bench.oracle.live_ops().collect();
    assert_eq!(
        ops.iter().map(|op| (op.op, op.life, op.posted)).collect::<Vec<_>>(),
        [(OpId(7), A, Label(4)), (OpId(8), A, Label(7)), (OpId(9), B, Label(1))]
    );
    assert_eq!((ops[0].source.clone(), ops[0].target.clone()), (cells(PREFILL, [0..6]), target));
    assert_eq!(ops.iter().map(|op| op.cells()).collect::<Vec<_>>(), [6, 0, 3]);
    assert_eq!(ops[0].landed().collect::<Vec<_>>(), [span(0..1), span(3..5)]);
    assert_eq!(ops[2].landed().count(), 0);
}

#[test]
fn oracles_that_know_the_same_are_equal_and_hash_alike() {
    use std::hash::BuildHasher;
    let hash = |bench: &Bench| rustc_hash::FxBuildHasher.hash_one(&bench.oracle);
    let (one, two) = (Bench::after([alloc(A, DECODE, 0..2)]), Bench::after([alloc(A, DECODE, 0..2)]));
    assert_eq!((&one.oracle, hash(&one)), (&two.oracle, hash(&two)));
    let other = Bench::after([alloc(A, DECODE, 0..1)]);
    assert_ne!(hash(&one), hash(&other));
    let mut written = Bench::after([alloc(A, DECODE, 0..2)]);
    written.clean([write(A, DECODE, 0..1)]);
    assert_ne!(hash(&one), hash(&written));
}
