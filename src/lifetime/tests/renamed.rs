//! The hash that does not see the names of slots.

use super::kit::*;
use super::reference::{PLACES, events, small};
use crate::lifetime::Verdict::Success;
use crate::lifetime::{Cells, Event, Label, Oracle, Place, Slots, Span, Spans};
use proptest::prelude::*;
use rustc_hash::FxHasher;
use std::collections::BTreeMap;
use std::hash::Hasher;

/// For each place, the new name of each slot.
type Renaming = BTreeMap<Place, Vec<u32>>;

fn hash<'a>(oracle: &Oracle, order: impl Fn(Place) -> &'a [u32]) -> u64 {
    let mut hasher = FxHasher::default();
    oracle.hash_renamed(&mut hasher, order);
    hasher.finish()
}

/// The same runs of cells after the slots, of `width` cells each, have new names.
fn renamed(names: &[u32], width: u32, runs: &[Span]) -> Spans {
    let new = |cell: u32| names[(cell / width) as usize] * width + cell % width;
    runs.iter().flat_map(|run| run.start..run.end()).map(|cell| Span::new(new(cell), 1)).collect()
}

fn rename(renaming: &Renaming, event: Event) -> Event {
    let width = |place| PLACES.iter().find(|known| known.0 == place).unwrap().2;
    let slots = |Slots { place, runs }| Slots { place, runs: renamed(&renaming[&place], 1, &runs) };
    let cells = |Cells { place, runs }| Cells { place, runs: renamed(&renaming[&place], width(place), &runs) };
    match event {
        Event::Alloc { life, slots: old } => Event::Alloc { life, slots: slots(old) },
        Event::Free { life, slots: old } => Event::Free { life, slots: slots(old) },
        Event::Write { life, cells: old } => Event::Write { life, cells: cells(old) },
        Event::Read { life, cells: old } => Event::Read { life, cells: cells(old) },
        Event::Post { op, life, source, target } => {
            Event::Post { op, life, source: source.map(cells), target: target.map(cells) }
        }
        other => other,
    }
}

fn after(events: impl IntoIterator<Item = Event>) -> Oracle {
    let mut oracle = small();
    for (step, event) in (1..).zip(events) {
        oracle.apply(Label(step), &event, &mut Vec::new());
    }
    oracle
}

fn renamings() -> impl Strategy<Value = Renaming> {
    PLACES
        .map(|(place, slots, _)| (Just(place), Just((0..slots).collect::<Vec<_>>()).prop_shuffle()))
        .to_vec()
        .prop_map(|names| names.into_iter().collect())
}

proptest! {
    #[test]
    fn renaming_slots_keeps_the_hash(events in events(), order in renamings(), renaming in renamings()) {
        let plain = after(events.iter().cloned());
        let other = after(events.into_iter().map(|event| rename(&renaming, event)));
        // The order names the same slots as before, by their new names.
        let moved: Renaming = order
            .iter()
            .map(|(place, order)| (*place, order.iter().map(|&slot| renaming[place][slot as usize]).collect()))
            .collect();
        prop_assert_eq!(hash(&plain, |place| &order[&place]), hash(&other, |place| &moved[&place]));
    }

    #[test]
    fn slots_that_are_not_listed_follow_in_ascending_order(events in events(), order in renamings(), listed in 0_usize..7) {
        let oracle = after(events);
        let full: Renaming = order
            .iter()
            .map(|(place, order)| {
                let (first, rest) = order.split_at(listed.min(order.len()));
                let mut rest = rest.to_vec();
                rest.sort_unstable();
                (*place, [first, &rest].concat())
            })
            .collect();
        let short = |place: Place| &order[&place][..listed.min(order[&place].len())];
        prop_assert_eq!(hash(&oracle, short), hash(&oracle, |place| &full[&place]));
    }
}

/// The hash after events on the bench, with slots named as they are.
fn plain<const N: usize>(events: [Event; N]) -> u64 {
    let mut bench = Bench::new();
    events.into_iter().for_each(|event| drop(bench.step(event)));
    hash(&bench.oracle, |_| &[])
}

#[test]
fn what_differs_hashes_differently() {
    let states = [
        plain([]),
        plain([begin(A)]),
        plain([begin(B)]),
        // Owners: which slot, whose, since when.
        plain([alloc(A, DECODE, 0..1)]),
        plain([alloc(A, DECODE, 1..2)]),
        plain([alloc(A, PREFILL, 0..1)]),
        plain([alloc(B, DECODE, 0..1)]),
        plain([settle(0), alloc(A, DECODE, 0..1)]),
        // Contents: which cell, whose.
        plain([write(A, DECODE, 0..1)]),
        plain([write(A, DECODE, 1..2)]),
        plain([write(A, DECODE, 0..2)]),
        plain([write(B, DECODE, 0..1)]),
        plain([write(A, DECODE, 4..5)]),
        // Accesses: which, whose, since when, from where, to where, how far.
        plain([incoming(1, A, DECODE, 0..2)]),
        plain([incoming(2, A, DECODE, 0..2)]),
        plain([incoming(1, B, DECODE, 0..2)]),
        plain([settle(0), incoming(1, A, DECODE, 0..2)]),
        plain([incoming(1, A, DECODE, 0..3)]),
        plain([incoming(1, A, DECODE, 1..3)]),
        plain([incoming(1, A, DECODE, 3..5)]),
        plain([incoming(1, A, DECODE, 4..6)]),
        plain([incoming(1, A, PREFILL, 0..2)]),
        plain([outgoing(1, A, DECODE, 0..2)]),
        plain([post(1, A, cells(DECODE, [1..2, 0..1]), None)]),
        plain([outgoing(1, A, DECODE, 0..2), land(1, 0..1)]),
        plain([outgoing(1, A, DECODE, 0..2), land(1, 1..2)]),
        // Lives: what was decided.
        plain([begin(A), decide(A, 0, 0, Success)]),
        plain([begin(A), decide(A, 1, 0, Success)]),
    ];
    for (at, state) in states.iter().enumerate() {
        assert!(!states[..at].contains(state), "state {at} is taken for another");
    }
}

#[test]
fn who_released_an_access_makes_a_difference() {
    let early = [alloc(A, DECODE, 0..1), incoming(1, A, DECODE, 0..1), free(A, DECODE, 0..1), settle(9)];
    let late = [alloc(A, DECODE, 0..1), incoming(1, A, DECODE, 0..1), settle(9), free(A, DECODE, 0..1)];
    assert_ne!(plain(early), plain(late));
}
