//! Exhaustive search.

use crate::graph::{Graph, edge};
use crate::naive::{by_family, naive};
use crate::{PLANTS, kinds, planted, shortest_free_in_flight, shows};
use pagefence::explore::{
    Budget, Exhaustive, ExhaustiveOptions, PageMachine, PageStep, Plant, Progress, Quiet, StepClass, StopReason, Tail,
    exhaustive,
};
use pagefence::lifetime::{Kind, Severity};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

fn search(machine: &PageMachine, options: &ExhaustiveOptions) -> Exhaustive<PageStep> {
    exhaustive(machine, options, &Budget::default())
}

/// Pinned. SPIN and TLC gave the same numbers (TLC the classes as well) for a machine of the same description, see
/// [`PageMachine`]'s module.
#[test]
fn reference_machine_has_its_known_size() {
    let machine = PageMachine::new(4, 3, 2);
    let options = ExhaustiveOptions { jobs: 2, ..ExhaustiveOptions::default() };
    let all = search(&machine, &options);
    assert_eq!((all.states, all.transitions, all.depth), (2_791_024, 13_374_064, 32));
    assert_eq!((all.stop, all.closed, all.self_loops, all.cut), (StopReason::Closed, true, 0, 0));
    assert_eq!(all.digest, 6_303_007_650_443_046_757);
    assert_eq!(all.findings, []);
    let classes = search(&machine, &ExhaustiveOptions { symmetry: true, ..options });
    assert_eq!((classes.states, classes.depth, classes.closed), (21_852, 32, true));
}

#[test]
fn any_number_of_workers_gives_the_same_result() {
    for plant in PLANTS {
        for symmetry in [false, true] {
            // Levels of a thousand states and more, so that work is really shared.
            let machine = PageMachine::new(3, 2, 2).plant(plant);
            let options = ExhaustiveOptions { symmetry, stop_at: Some(Severity::Corruption), jobs: 1 };
            let one = search(&machine, &options);
            assert!(one.closed && (symmetry || one.states > 10_000));
            for jobs in [2, 3, 8] {
                assert_eq!(search(&machine, &ExhaustiveOptions { jobs, ..options }), one, "{plant:?} {jobs}");
            }
        }
    }
}

#[test]
fn agrees_with_the_naive_search() {
    for plant in PLANTS {
        for stop_at in [None, Some(Severity::Corruption), Some(Severity::Hazard)] {
            let machine = PageMachine::new(2, 2, 2).plant(plant);
            let all = search(&machine, &ExhaustiveOptions { stop_at, ..ExhaustiveOptions::default() });
            let reference = naive(&machine, stop_at);
            assert_eq!(
                (all.states, all.transitions, all.cut, all.depth),
                (reference.states, reference.transitions, reference.cut, reference.depth)
            );
            assert_eq!(by_family(&all.families), reference.families);
            let findings: BTreeMap<_, _> =
                all.findings.iter().map(|found| (found.signature, (found.steps.len(), found.count))).collect();
            assert_eq!(findings, reference.findings);
        }
    }
}

#[test]
fn scripts_are_shortest_and_show_what_they_say() {
    let all = search(&planted(Plant::AbortFreesEarly), &ExhaustiveOptions::default());
    assert_eq!(all.findings[0].signature.kind, Kind::FreeInFlight);
    assert_eq!(all.findings[0].steps, shortest_free_in_flight());
    assert_eq!(all.findings.len(), 3);
    for found in &all.findings {
        let shown = shows(&planted(Plant::AbortFreesEarly), &found.steps, Tail::Stop);
        assert!(shown.contains(&(found.signature, found.steps.len())), "{found:?}");
    }
}

#[test]
fn symmetry_gives_the_same_verdict_for_fewer_states() {
    for plant in PLANTS {
        let machine = PageMachine::new(3, 2, 2).plant(plant);
        let all = search(&machine, &ExhaustiveOptions::default());
        let classes = search(&machine, &ExhaustiveOptions { symmetry: true, ..ExhaustiveOptions::default() });
        // 3! renamings of requests and 2! of pages.
        assert!(classes.states * 12 >= all.states && classes.states * 6 < all.states);
        assert_eq!(classes.depth, all.depth);
        let shortest = |all: &Exhaustive<PageStep>| -> BTreeMap<_, _> {
            all.findings.iter().map(|found| (found.signature, found.steps.len())).collect()
        };
        assert_eq!(shortest(&classes), shortest(&all), "{plant:?}");
    }
}

#[test]
fn every_limit_truncates() {
    let machine = PageMachine::new(3, 3, 2);
    let flag = AtomicBool::new(true);
    let stopped = |budget: Budget<'_>| {
        let part = exhaustive(&machine, &ExhaustiveOptions::default(), &budget);
        assert!(!part.closed);
        part
    };
    let none = Budget::default();
    assert_eq!(stopped(Budget { time: Some(Duration::ZERO), ..none }).stop, StopReason::Time);
    let interrupted = stopped(Budget { stop: Some(&flag), ..none });
    assert_eq!((interrupted.stop, interrupted.states, interrupted.transitions), (StopReason::Interrupted, 1, 0));
    assert_eq!(stopped(Budget { memory: Some(1 << 14), ..none }).stop, StopReason::Memory);
    let part = stopped(Budget { states: Some(5000), ..none });
    assert_eq!((part.stop, part.states), (StopReason::States, 5000));
    let ample = Budget { states: Some(1 << 40), memory: Some(1 << 40), time: Some(Duration::from_hours(1)), ..none };
    assert!(exhaustive(&machine, &ExhaustiveOptions::default(), &ample).closed);
}

#[test]
fn a_limit_does_not_depend_on_workers_either() {
    let machine = PageMachine::new(4, 3, 2).plant(Some(Plant::AbortFreesEarly));
    for budget in [
        Budget { states: Some(20_000), ..Budget::default() },
        Budget { memory: Some(2_000_000), ..Budget::default() },
        Budget { until: Some(Severity::Corruption), ..Budget::default() },
    ] {
        let run = |jobs| exhaustive(&machine, &ExhaustiveOptions { jobs, ..ExhaustiveOptions::default() }, &budget);
        assert!(!run(1).closed);
        assert_eq!(run(1), run(2));
    }
}

#[test]
fn stops_at_the_first_finding_that_is_severe_enough() {
    let machine = planted(Plant::AbortFreesEarly);
    let until = |severity| {
        let budget = Budget { until: Some(severity), ..Budget::default() };
        exhaustive(&machine, &ExhaustiveOptions::default(), &budget)
    };
    let hazard = until(Severity::Hazard);
    assert_eq!((hazard.stop, hazard.closed), (StopReason::Found, false));
    assert_eq!(kinds(hazard.findings.iter().map(|found| &found.signature)), [Kind::FreeInFlight]);
    let corruption = until(Severity::Corruption);
    assert_eq!(corruption.stop, StopReason::Found);
    assert!(kinds(corruption.findings.iter().map(|found| &found.signature)).contains(&Kind::WriteAfterFree));
    assert!(corruption.states > hazard.states);
    assert!(until(Severity::Exposure).closed);
}

#[test]
fn what_is_past_a_cut_is_no_state() {
    let cut = edge(0, StepClass::Progress, 1).violates(Kind::TornRead);
    let graph = Graph::new(&[cut, edge(1, StepClass::Progress, 2), edge(2, StepClass::Progress, 3)]);
    let run = |stop_at| exhaustive(&graph, &ExhaustiveOptions { stop_at, ..Default::default() }, &Budget::default());
    let all = run(None);
    assert_eq!((all.states, all.transitions, all.cut, all.depth), (4, 3, 0, 3));
    let all = run(Some(Severity::Corruption));
    assert_eq!((all.states, all.transitions, all.cut, all.depth), (1, 1, 1, 0));
    assert_eq!(all.findings[0].steps, [0]);
    // The same state on another way is followed.
    let mut around = graph.clone();
    around.edges.push(edge(0, StepClass::Fault, 1));
    let all = exhaustive(&around, &ExhaustiveOptions::default(), &Budget::default());
    assert_eq!((all.states, all.transitions, all.cut, all.depth), (4, 4, 1, 3));
}

#[test]
fn only_steps_that_change_something_keep_a_state_from_rest() {
    let poll = edge(0, StepClass::Progress, 0);
    let rest = |edges: &[_]| {
        let graph = Graph::new(edges)
            .at_rest(0, Quiet::TimersPending, Kind::Stuck)
            .at_rest(0, Quiet::Final, Kind::Leak)
            .at_rest(1, Quiet::Final, Kind::Crash);
        let all = exhaustive(&graph, &ExhaustiveOptions::default(), &Budget::default());
        assert!(all.findings.iter().all(|found| found.at_rest));
        (all.self_loops, kinds(all.findings.iter().map(|found| &found.signature)))
    };
    assert_eq!(rest(&[poll]), (1, vec![Kind::Leak]));
    assert_eq!(rest(&[poll, edge(0, StepClass::Timer, 0)]), (2, vec![Kind::Leak]));
    assert_eq!(rest(&[poll, edge(0, StepClass::Timer, 1)]), (1, vec![Kind::Stuck, Kind::Crash]));
    assert_eq!(rest(&[poll, edge(0, StepClass::Progress, 1)]), (1, vec![Kind::Crash]));
    assert_eq!(
        rest(&[edge(0, StepClass::Client, 1), edge(1, StepClass::Fault, 0)]),
        (0, vec![Kind::Leak, Kind::Crash])
    );
}

#[test]
fn digest_shows_each_change() {
    let digest = |edges: &[_]| exhaustive(&Graph::new(edges), &Default::default(), &Budget::default()).digest;
    let (a, b) = (edge(0, StepClass::Progress, 1), edge(1, StepClass::Progress, 2));
    let base = digest(&[a, b]);
    assert_eq!(digest(&[b, a]), base);
    assert_ne!(digest(&[a]), base);
    assert_ne!(digest(&[a, b, b]), base, "the same transition twice");
    assert_ne!(digest(&[a, edge(1, StepClass::Timer, 2)]), base, "another kind of step");
    assert_ne!(digest(&[a, b, edge(2, StepClass::Progress, 0)]), base);
}

#[test]
fn progress_is_told() {
    let told = RefCell::new(Vec::new());
    let tell = |progress: &Progress| told.borrow_mut().push(*progress);
    let machine = planted(Plant::AbortFreesEarly);
    let budget = Budget { progress: Some(&tell), ..Budget::default() };
    let all = exhaustive(&machine, &ExhaustiveOptions::default(), &budget);
    let told = told.into_inner();
    assert!(told.iter().is_sorted_by_key(|progress| (progress.depth, progress.states, progress.steps)));
    let last = told.last().expect("at least one level");
    assert_eq!((last.states, last.steps, last.depth), (all.states, all.transitions, all.depth));
    assert_eq!((last.frontier, last.findings, last.walks), (0, all.findings.len(), 0));
    assert_eq!(told[0].frontier, 4, "two requests, two pages");
}
