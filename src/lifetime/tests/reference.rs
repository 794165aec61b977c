//! The oracle held against the naive one, on random events.

use super::kit::*;
use super::naive::Naive;
use crate::lifetime::{
    Answer, Cells, Event, Kind, Label, Life, Node, OpId, Oracle, Place, Slots, Span, Spans, Verdict, Violation,
};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use std::collections::BTreeSet;

/// The places, with their slots and the cells of each.
pub(super) const PLACES: [(Place, u32, u32); 3] = [(PREFILL, 5, 3), (DECODE, 6, 2), (ROWS, 3, 1)];

fn life() -> impl Strategy<Value = Life> {
    prop::sample::select(vec![A, A1, B, Life::first(2)])
}

/// Up to three runs within `0 .. limit`, in any order; they may be empty and may overlap.
fn runs(limit: u32) -> impl Strategy<Value = Spans> {
    let run = (0..limit, 0..limit).prop_map(move |(start, len)| Span::new(start, len.min(limit - start)));
    prop::collection::vec(run, 1..4).prop_map(Spans::from_iter)
}

fn slots() -> impl Strategy<Value = Slots> {
    prop::sample::select(PLACES.to_vec())
        .prop_flat_map(|(place, slots, _)| runs(slots).prop_map(move |runs| Slots { place, runs }))
}

fn some_cells() -> impl Strategy<Value = Cells> {
    prop::sample::select(PLACES.to_vec())
        .prop_flat_map(|(place, slots, width)| runs(slots * width).prop_map(move |runs| Cells { place, runs }))
}

fn part() -> impl Strategy<Value = Span> {
    prop_oneof![
        9 => (0_u32..12, 0_u32..20).prop_map(|(start, len)| Span::new(start, len)),
        1 => (0_u32..12).prop_map(|start| Span::new(start, u32::MAX)),
    ]
}

fn verdict() -> impl Strategy<Value = Verdict> {
    prop::sample::select(vec![Verdict::Success, Verdict::Rejected, Verdict::Aborted, Verdict::Failed])
}

fn told() -> impl Strategy<Value = Answer> {
    (verdict(), 0_u32..3, prop::option::of(life())).prop_map(|(verdict, prompt_tokens, tokens_of)| Answer {
        verdict,
        prompt_tokens,
        tokens_of,
    })
}

fn event() -> impl Strategy<Value = Event> {
    let op = || (0_u32..4).prop_map(OpId);
    let side = || prop::option::of(some_cells());
    prop_oneof![
        2 => life().prop_map(|life| Event::Begin { life }),
        8 => (life(), slots()).prop_map(|(life, slots)| Event::Alloc { life, slots }),
        5 => (life(), slots()).prop_map(|(life, slots)| Event::Free { life, slots }),
        6 => (life(), some_cells()).prop_map(|(life, cells)| Event::Write { life, cells }),
        5 => (op(), life(), side(), side())
            .prop_map(|(op, life, source, target)| Event::Post { op, life, source, target }),
        6 => (op(), part()).prop_map(|(op, part)| Event::Land { op, part }),
        2 => op().prop_map(|op| Event::Settle { op }),
        6 => (life(), some_cells()).prop_map(|(life, cells)| Event::Read { life, cells }),
        4 => (life(), 0_u8..2, 0_u8..3, verdict())
            .prop_map(|(life, group, rank, verdict)| Event::Decide { life, group, rank, verdict }),
        2 => (life(), told(), prop::option::of(0_u32..3))
            .prop_map(|(life, told, processed)| Event::Finish { life, told, processed }),
        1 => life().prop_map(|life| Event::Crash { node: Node(0), life }),
    ]
}

/// Random events over [`PLACES`].
pub(super) fn events() -> impl Strategy<Value = Vec<Event>> {
    prop::collection::vec(event(), 1..60)
}

/// An oracle over [`PLACES`].
pub(super) fn small() -> Oracle {
    let mut oracle = Oracle::default();
    PLACES.into_iter().for_each(|(place, slots, width)| oracle.declare(place, slots, width));
    oracle
}

/// In the order in which the naive oracle reports.
fn sorted(mut violations: Vec<Violation>) -> Vec<Violation> {
    violations.sort_by_key(|found| (found.kind, found.place, found.life, found.other, found.op));
    violations
}

/// All that can be seen of a state, cell by cell.
type Seen = (Vec<Option<Life>>, Vec<Option<Life>>, Vec<String>, Vec<Life>);

fn seen(oracle: &Oracle) -> Seen {
    let owners = PLACES.iter().flat_map(|&(place, slots, _)| (0..slots).map(move |slot| oracle.owner(place, slot)));
    let contents = PLACES
        .iter()
        .flat_map(|&(place, slots, width)| (0..slots * width).map(move |cell| oracle.content(place, cell)));
    let list = |side: &Option<Cells>| {
        let cells = side.as_ref()?;
        Some(cells.runs.iter().flat_map(|run| run.start..run.end()).map(|cell| (cells.place, cell)).collect::<Vec<_>>())
    };
    let ops = oracle.live_ops().map(|op| {
        let landed: Vec<u32> = op.landed().flat_map(|run| run.start..run.end()).collect();
        format!(
            "{:?}",
            (
                op.op,
                op.life,
                list(&op.source),
                list(&op.target),
                op.posted,
                op.source_released,
                op.target_released,
                landed
            )
        )
    });
    (owners.collect(), contents.collect(), ops.collect(), oracle.unfinished().collect())
}

fn seen_naively(naive: &Naive) -> Seen {
    let owner = |place, slot| naive.owners.get(&(place, slot)).map(|owner| owner.0);
    let owners = PLACES.iter().flat_map(|&(place, slots, _)| (0..slots).map(move |slot| owner(place, slot)));
    let content = |place, cell| naive.contents.get(&(place, cell)).copied();
    let contents =
        PLACES.iter().flat_map(|&(place, slots, width)| (0..slots * width).map(move |cell| content(place, cell)));
    let mut ops = naive.ops.clone();
    ops.sort_by_key(|op| op.op);
    let ops = ops.iter().map(|op| {
        let landed: Vec<u32> = op.landed.iter().copied().collect();
        format!(
            "{:?}",
            (op.op, op.life, &op.source, &op.target, op.posted, op.source_released, op.target_released, landed)
        )
    });
    (owners.collect(), contents.collect(), ops.collect(), naive.begun.keys().copied().collect())
}

/// Runs both oracles side by side. Answers the kinds that were found.
fn compare(events: &[Event]) -> Result<BTreeSet<Kind>, TestCaseError> {
    let mut oracle = small();
    let mut naive = Naive::new(PLACES.map(|(place, _, width)| (place, width)));
    let mut kinds = BTreeSet::new();
    for (step, event) in (1..).zip(events) {
        let mut found = Vec::new();
        oracle.apply(Label(step), event, &mut found);
        prop_assert_eq!(sorted(found.clone()), naive.apply(Label(step), event), "step {} of {:?}", step, events);
        prop_assert_eq!(seen(&oracle), seen_naively(&naive), "after step {} of {:?}", step, events);
        kinds.extend(found.iter().map(|found| found.kind));
    }
    let mut found = Vec::new();
    oracle.quiesce(Label(0), &[A1], &mut found);
    prop_assert_eq!(sorted(found.clone()), naive.quiesce(Label(0), &[A1]), "at the end of {:?}", events);
    kinds.extend(found.iter().map(|found| found.kind));
    Ok(kinds)
}

proptest! {
    #[test]
    fn the_oracle_says_what_the_naive_one_says(events in events()) {
        compare(&events)?;
    }
}

#[test]
fn random_events_reach_every_kind() {
    let (mut runner, strategy) = (TestRunner::deterministic(), events());
    let mut reached = BTreeSet::new();
    for _ in 0..200 {
        let events = strategy.new_tree(&mut runner).unwrap().current();
        reached.extend(compare(&events).unwrap());
    }
    assert_eq!(reached, BTreeSet::from(Kind::ALL));
}
