//! The run-length map against a plain vector.

use super::kit::span;
use crate::lifetime::{Runs, Span};
use proptest::prelude::*;

/// Room for two runs in place, so that these maps spill to the heap, too.
type Map = Runs<u8, 2>;

fn listed(map: &Map) -> Vec<(Span, u8)> {
    map.iter().collect()
}

#[test]
fn a_new_map_is_one_run() {
    let map = Map::new(1_048_576, 7);
    assert_eq!((map.len(), map.segments(), map.is_empty()), (1_048_576, 1, false));
    assert_eq!([0, 1_048_575, 1_048_576].map(|index| map.get(index)), [Some(7), Some(7), None]);
}

#[test]
fn a_map_of_nothing_is_empty() {
    let map = Map::new(0, 7);
    assert_eq!((map.len(), map.segments(), map.is_empty(), map.get(0)), (0, 0, true, None));
    assert_eq!(listed(&map), []);
}

#[test]
fn a_map_grows_at_its_end() {
    let mut map = Map::new(2, 7);
    map.extend(3, 7);
    map.extend(0, 8);
    assert_eq!(map, Map::new(5, 7));
    map.extend(1, 8);
    assert_eq!(listed(&map), [(span(0..5), 7), (span(5..6), 8)]);
}

#[test]
#[should_panic(expected = "counted in 32 bits")]
fn a_map_does_not_grow_past_32_bits() {
    Map::new(1, 7).extend(u32::MAX, 7);
}

#[test]
fn setting_splits_and_joins() {
    let mut map = Map::new(10, 0);
    map.set(span(3..6), 1);
    assert_eq!(listed(&map), [(span(0..3), 0), (span(3..6), 1), (span(6..10), 0)]);
    map.set(span(6..8), 1);
    assert_eq!(listed(&map), [(span(0..3), 0), (span(3..8), 1), (span(8..10), 0)]);
    map.set(span(0..3), 1);
    assert_eq!(listed(&map), [(span(0..8), 1), (span(8..10), 0)]);
    map.set(span(2..2), 9);
    map.set(span(4..5), 1);
    assert_eq!(listed(&map), [(span(0..8), 1), (span(8..10), 0)]);
    map.set(span(0..10), 0);
    assert_eq!(map, Map::new(10, 0));
}

#[test]
fn pieces_are_clipped() {
    let mut map = Map::new(10, 0);
    map.set(span(3..6), 1);
    assert_eq!(map.iter_in(span(4..8)).collect::<Vec<_>>(), [(span(4..6), 1), (span(6..8), 0)]);
    assert_eq!(map.iter_in(span(8..20)).collect::<Vec<_>>(), [(span(8..10), 0)]);
    assert_eq!(map.iter_in(span(3..3)).count() + map.iter_in(span(10..12)).count(), 0);
}

#[test]
#[should_panic(expected = "reaches past 10")]
fn setting_past_the_end_panics() {
    Map::new(10, 0).set(span(9..11), 1);
}

#[test]
fn a_map_prints_as_its_runs() {
    let mut map = Map::new(4, 0);
    map.set(span(1..2), 1);
    assert_eq!(format!("{map:?}"), "{0..1: 0, 1..2: 1, 2..4: 0}");
}

proptest! {
    #[test]
    fn a_map_is_what_a_vector_is(
        len in 1_u32..40,
        changes in prop::collection::vec((0_u32..40, 0_u32..12, 0_u8..3), 0..60),
        (from, count) in (0_u32..45, 0_u32..45),
    ) {
        let (mut map, mut plain) = (Map::new(len, 0), vec![0; len as usize]);
        for (start, count, value) in changes {
            let start = start % len;
            let run = Span::new(start, count.min(len - start));
            map.set(run, value);
            plain[run.start as usize..run.end() as usize].fill(value);

            prop_assert_eq!((0..len).map(|at| map.get(at).unwrap()).collect::<Vec<_>>(), plain.clone());
            let maximal = plain.chunk_by(|a, b| a == b).map(|run| (u32::try_from(run.len()).unwrap(), run[0]));
            prop_assert_eq!(listed(&map).iter().map(|(run, value)| (run.len, *value)).collect::<Vec<_>>(), maximal.collect::<Vec<_>>());
        }
        let (mut next, mut inside) = (from, Vec::new());
        for (run, value) in map.iter_in(Span::new(from, count)) {
            prop_assert_eq!(run.start, next);
            next = run.end();
            inside.extend(std::iter::repeat_n(value, run.len as usize));
        }
        let wanted: Vec<_> = plain.iter().copied().skip(from as usize).take(count as usize).collect();
        prop_assert_eq!(inside, wanted);
    }
}
