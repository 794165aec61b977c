//! What events say of themselves, and what tells small things apart once they are hashed.

use super::kit::*;
use crate::lifetime::{Arena, Event, Life, Node, OpId, Place, RunWord, Slots, Span};
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

#[test]
fn an_event_names_its_access_where_it_has_one() {
    let of = [incoming(7, A, DECODE, 0..1), land(8, 0..1), settle(9), begin(A)].map(|event: Event| event.op());
    assert_eq!(of, [Some(OpId(7)), Some(OpId(8)), Some(OpId(9)), None]);
}

#[test]
fn an_event_names_its_life_where_it_has_one() {
    let of = [begin(A), incoming(7, B, DECODE, 0..1), land(8, 0..1), settle(9)].map(|event: Event| event.life());
    assert_eq!(of, [Some(A), Some(B), None, None]);
}

fn hash(value: impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    value.hash(&mut hasher);
    hasher.finish()
}

/// All values hash differently.
#[track_caller]
fn told_apart<T: Hash + Copy>(values: &[T]) {
    for (at, value) in values.iter().enumerate() {
        let known = values[..at].iter().position(|other| hash(*other) == hash(*value));
        assert_eq!(known, None, "value {at} is taken for another");
    }
}

#[test]
fn a_life_hashes_by_request_and_attempt() {
    told_apart(&[A, B, A1, Life { request: 1, generation: 1 }, Life { request: 0, generation: 2 }]);
}

#[test]
fn a_place_hashes_by_node_and_arena() {
    told_apart(&[PREFILL, DECODE, ROWS, Place { node: Node(0), arena: Arena::MetadataRow }]);
}

#[test]
fn a_span_hashes_by_start_and_length() {
    told_apart(&[span(0..1), span(0..2), span(1..2), span(1..3), span(2..3)]);
}

#[test]
fn slots_hash_by_place_and_runs() {
    let slots = |place, runs: &[Span]| Slots { place, runs: runs.into() };
    let all = [
        slots(DECODE, &[]),
        slots(DECODE, &[span(0..2)]),
        slots(DECODE, &[span(0..1), span(1..2)]),
        slots(DECODE, &[span(1..3)]),
        slots(PREFILL, &[span(0..2)]),
        slots(ROWS, &[span(0..2)]),
    ];
    told_apart(&all.each_ref());
}

#[test]
fn a_run_of_pages_comes_out_of_its_word_as_it_went_in() {
    let place = Place { node: Node(17), arena: Arena::KvPage };
    let run = RunWord { place, run: Span::new(0x0102_0304, 0x0506_0708) };
    assert_eq!(RunWord::kv_pages(run.into()), Some(run));
}

#[test]
fn a_run_of_rows_is_no_run_of_pages() {
    let rows = RunWord { place: ROWS, run: span(0..1) };
    assert_eq!(RunWord::kv_pages(rows.into()), None);
}
