//! Real sizes cost what small ones cost.

use super::kit::*;
use crate::lifetime::{Arena, Kind, Label, Node, Oracle, Place};

/// The pool of the incident: 681,280 tokens in pages of 64.
const PAGES: u32 = 10_645;
const TOKENS: u32 = PAGES * 64;
const SENDER: Place = Place { node: Node(0), arena: Arena::KvPage };
const RECEIVER: Place = Place { node: Node(1), arena: Arena::KvPage };

fn full_scale() -> Bench {
    let mut oracle = Oracle::default();
    oracle.declare(SENDER, PAGES, 64);
    oracle.declare(RECEIVER, PAGES, 64);
    Bench { oracle, label: Label(0) }
}

#[test]
fn a_whole_pool_is_a_handful_of_extents() {
    assert_eq!(TOKENS, 681_280);
    let mut bench = full_scale();
    bench.clean([
        alloc(A, SENDER, 0..PAGES),
        write(A, SENDER, 0..TOKENS),
        alloc(A, RECEIVER, 0..PAGES),
        post(1, A, cells(SENDER, [0..TOKENS]), cells(RECEIVER, [TOKENS / 2..TOKENS, 0..TOKENS / 2])),
    ]);
    for slice in 0..10 {
        bench.clean([land(1, TOKENS / 10 * slice..TOKENS / 10 * (slice + 1))]);
        assert!(bench.oracle.segments() <= 8, "{}", bench.oracle.segments());
    }
    bench.clean([settle(1), read(A, RECEIVER, 0..TOKENS), free(A, RECEIVER, 0..PAGES), free(A, SENDER, 0..PAGES)]);
    assert_eq!(bench.oracle.segments(), 2);
}

#[test]
fn the_incident_at_full_scale() {
    let mut bench = full_scale();
    bench.clean([alloc(A, RECEIVER, 0..PAGES), write(A, RECEIVER, 0..1)]);
    let found = bench.step(read(A, RECEIVER, 0..TOKENS));
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].kind, found[0].cells, found[0].slots.clone()), (Kind::StaleRead, 681_279, spans([0..PAGES])));
    assert!(bench.oracle.segments() <= 5);
}

#[test]
fn the_usual_state_needs_no_heap_of_its_own() {
    // What a search clones for each state it keeps. A change here is a change of its speed: make it knowingly.
    assert!(size_of::<Oracle>() <= 1_400, "{}", size_of::<Oracle>());
}
