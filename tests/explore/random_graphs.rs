//! Every explorer against the naive search, on random graphs.

use crate::graph::{Edge, Graph};
use crate::naive::{Naive, by_family, naive};
use crate::shows;
use pagefence::explore::{
    Budget, Exhaustive, ExhaustiveOptions, MinimiseOptions, Mix, Quiet, Signature, StepClass, StopReason, SwarmOptions,
    Tail, exhaustive, minimise, swarm,
};
use pagefence::lifetime::{Kind, Severity};
use proptest::prelude::*;
use std::collections::BTreeMap;

const CLASSES: [StepClass; 4] = [StepClass::Progress, StepClass::Timer, StepClass::Client, StepClass::Fault];
const TAIL: Tail = Tail::Drain { bound: 1000 };

fn kind() -> impl Strategy<Value = Kind> {
    prop::sample::select(&Kind::ALL[..])
}

fn an_edge() -> impl Strategy<Value = Edge> {
    let violates = prop_oneof![4 => Just(None), 1 => kind().prop_map(Some)];
    (0..24u32, 0..24u32, prop::sample::select(&CLASSES[..]), violates).prop_map(|(from, to, class, violates)| Edge {
        from,
        to,
        class,
        violates,
    })
}

fn a_graph() -> impl Strategy<Value = Graph> {
    let quiet = prop::sample::select(&[Quiet::TimersPending, Quiet::Final][..]);
    let rest = prop::collection::vec((0..24u32, quiet, kind()), 0..4);
    (prop::collection::vec(an_edge(), 0..80), rest).prop_map(|(edges, rest)| Graph { edges, rest, reversed: false })
}

fn a_rung() -> impl Strategy<Value = Option<Severity>> {
    let rungs = [None, Some(Severity::Hazard), Some(Severity::Liveness), Some(Severity::Corruption)];
    prop::sample::select(rungs.to_vec())
}

fn as_naive(all: &Exhaustive<u16>) -> Naive {
    let findings = all.findings.iter().map(|found| (found.signature, (found.steps.len(), found.count)));
    Naive {
        states: all.states,
        transitions: all.transitions,
        self_loops: all.self_loops,
        cut: all.cut,
        depth: all.depth,
        families: by_family(&all.families),
        findings: findings.collect::<BTreeMap<Signature, (usize, u64)>>(),
    }
}

proptest! {
    #[test]
    fn exhaustive_search_agrees_with_the_naive_one(graph in a_graph(), stop_at in a_rung()) {
        let options = ExhaustiveOptions { stop_at, ..ExhaustiveOptions::default() };
        let all = exhaustive(&graph, &options, &Budget::default());
        prop_assert!(all.closed);
        prop_assert_eq!(as_naive(&all), naive(&graph, stop_at));
        for found in &all.findings {
            // A drain may take more steps on the spot, which violate something but lead nowhere, before it judges.
            let (tail, most) = if found.at_rest { (TAIL, usize::MAX) } else { (Tail::Stop, found.steps.len()) };
            let mut shown = shows(&graph, &found.steps, tail).into_iter();
            let steps = shown.find(|(signature, _)| *signature == found.signature).map(|(_, steps)| steps);
            prop_assert!(steps.is_some_and(|steps| (found.steps.len()..=most).contains(&steps)), "{:?}", found);
        }
        let three = exhaustive(&graph, &ExhaustiveOptions { jobs: 3, ..options }, &Budget::default());
        prop_assert_eq!(&three, &all);
        let reversed = Graph { reversed: true, ..graph };
        prop_assert_eq!(exhaustive(&reversed, &options, &Budget::default()).digest, all.digest);
    }

    #[test]
    fn truncated_is_never_closed(graph in a_graph(), limit in 1..24u64) {
        let budget = Budget { states: Some(limit), ..Budget::default() };
        let all = exhaustive(&graph, &ExhaustiveOptions::default(), &Budget::default());
        let part = exhaustive(&graph, &ExhaustiveOptions::default(), &budget);
        if limit < all.states {
            prop_assert_eq!((part.states, part.closed, part.stop), (limit, false, StopReason::States));
        } else {
            prop_assert_eq!(part, all);
        }
    }

    #[test]
    fn walks_find_only_what_is_there_and_scripts_shrink(graph in a_graph(), seed: u64) {
        let all = naive(&graph, None);
        for mix in [Mix::Uniform, Mix::Swarm] {
            let options = SwarmOptions { seed, mix, length: 40, drain: 200, stop_at: None, ..SwarmOptions::default() };
            let walked = swarm(&graph, &options, &Budget { walks: Some(20), ..Budget::default() });
            prop_assert_eq!(walked.stop, StopReason::Walks);
            for found in &walked.findings {
                prop_assert!(all.findings.contains_key(&found.signature));
                let tail = if found.at_rest { TAIL } else { Tail::Stop };
                prop_assert!(shows(&graph, &found.steps, tail).iter().any(|(shown, _)| *shown == found.signature));
                let options = MinimiseOptions { tail, ..MinimiseOptions::default() };
                let small = minimise(&graph, &found.steps, &found.signature, &options);
                let Some(small) = small else { return Err(TestCaseError::fail("lost")) };
                prop_assert!(small.steps.len() <= found.steps.len());
                prop_assert!(shows(&graph, &small.steps, tail).iter().any(|(shown, _)| *shown == found.signature));
            }
        }
    }
}
