//! Random walks.

use crate::graph::{Graph, edge};
use crate::{PLANTS, planted, shows};
use pagefence::explore::{
    Budget, Mix, PageMachine, PageStep, Plant, Progress, Quiet, StepClass, StopReason, Swarm, SwarmOptions, Tail, swarm,
};
use pagefence::lifetime::{Kind, Severity};
use std::cell::Cell;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

fn walks(count: u64) -> Budget<'static> {
    Budget { walks: Some(count), ..Budget::default() }
}

fn walk(machine: &PageMachine, options: &SwarmOptions, count: u64) -> Swarm<PageStep> {
    swarm(machine, options, &walks(count))
}

#[test]
fn finds_each_planted_fault() {
    for (plant, kind) in [
        (Plant::AbortFreesEarly, Kind::WriteAfterFree),
        (Plant::PageForgotten, Kind::Leak),
        (Plant::LandingLost, Kind::Stuck),
    ] {
        for mix in [Mix::Uniform, Mix::Swarm] {
            let walked = walk(&planted(plant), &SwarmOptions { mix, seed: 7, ..SwarmOptions::default() }, 100);
            let found = walked.findings.iter().find(|found| found.signature.kind == kind);
            let found = found.expect("the planted fault");
            let tail = if found.at_rest { Tail::Drain { bound: 100 } } else { Tail::Stop };
            let shown = shows(&planted(plant), &found.steps, tail);
            assert!(shown.contains(&(found.signature, found.steps.len())), "{found:?}");
        }
    }
}

#[test]
fn a_sound_machine_is_silent_and_covered() {
    for mix in [Mix::Uniform, Mix::Swarm] {
        let walked = walk(&PageMachine::new(3, 2, 2), &SwarmOptions { mix, ..SwarmOptions::default() }, 100);
        assert_eq!((walked.walks, walked.next, walked.livelocks), (100, 100, 0));
        assert_eq!((walked.stop, walked.findings.len()), (StopReason::Walks, 0));
        assert!(walked.families.counts()[..7].iter().all(|&count| count > 0));
        assert_eq!(walked.families.counts().iter().sum::<u64>(), walked.steps);
    }
}

#[test]
fn any_number_of_workers_gives_the_same_result() {
    for plant in PLANTS {
        for mix in [Mix::Uniform, Mix::Swarm] {
            let options = SwarmOptions { mix, seed: 3, ..SwarmOptions::default() };
            let machine = PageMachine::new(3, 2, 2).plant(plant);
            let one = walk(&machine, &options, 333);
            assert_eq!(walk(&machine, &SwarmOptions { jobs: 2, ..options }, 333), one);
            let until = Budget { until: Some(Severity::Hazard), ..walks(333) };
            let one = swarm(&machine, &options, &until);
            assert_eq!(swarm(&machine, &SwarmOptions { jobs: 3, ..options }, &until), one);
            assert_eq!(one.stop, if plant.is_some() { StopReason::Found } else { StopReason::Walks });
            assert_eq!(one.walks, if plant.is_some() { 64 } else { 333 });
        }
    }
}

#[test]
fn goes_on_where_it_stopped() {
    let machine = planted(Plant::AbortFreesEarly);
    let options = SwarmOptions { seed: 5, length: 20, ..SwarmOptions::default() };
    let whole = walk(&machine, &options, 100);
    let first = walk(&machine, &options, 37);
    let second = walk(&machine, &SwarmOptions { from: first.next, ..options }, 63);
    assert_eq!(second.next, whole.next);
    assert_eq!(first.steps + second.steps, whole.steps);
    for found in &whole.findings {
        let mut parts = [&first, &second].map(|part| part.findings.iter().find(|f| f.signature == found.signature));
        let count: u64 = parts.iter().flatten().map(|part| part.count).sum();
        assert_eq!(count, found.count);
        // The script is that of the walk with the lowest number.
        let lowest = parts.iter_mut().find_map(Option::take).expect("found by one of them");
        assert_eq!((&lowest.steps, lowest.walk), (&found.steps, found.walk));
    }
}

#[test]
fn seeds_and_mixes_differ() {
    let machine = PageMachine::new(3, 2, 2);
    let base = walk(&machine, &SwarmOptions::default(), 50);
    assert_ne!(walk(&machine, &SwarmOptions { seed: 1, ..SwarmOptions::default() }, 50).steps, base.steps);
    assert_ne!(walk(&machine, &SwarmOptions { mix: Mix::Swarm, ..SwarmOptions::default() }, 50).steps, base.steps);
}

#[test]
fn some_swarm_walks_do_without_a_fault() {
    // Node 0 goes nowhere without a fault; walks whose fault family is off stay there.
    let graph = Graph::new(&[edge(0, StepClass::Fault, 1)]);
    let walked = swarm(&graph, &SwarmOptions { mix: Mix::Swarm, ..SwarmOptions::default() }, &walks(200));
    let taken = walked.families.count(StepClass::Fault as u8);
    assert!((60..140).contains(&taken), "{taken}");
    // Other classes are never off.
    let graph = Graph::new(&[edge(0, StepClass::Client, 1)]);
    let walked = swarm(&graph, &SwarmOptions { mix: Mix::Swarm, ..SwarmOptions::default() }, &walks(200));
    assert_eq!(walked.families.count(StepClass::Client as u8), 200);
}

#[test]
fn uniform_is_uniform_over_steps() {
    let edges: Vec<_> = (1..=4).map(|to| edge(0, StepClass::Client, to).violates(Kind::Crash)).collect();
    let walked = swarm(&Graph::new(&edges), &SwarmOptions::default(), &walks(4000));
    assert_eq!(walked.findings.len(), 4);
    assert!(walked.findings.iter().all(|found| (850..1150).contains(&found.count)), "{:?}", walked.findings);
}

#[test]
fn a_path_ends_where_it_is_bad_enough() {
    let graph = Graph::new(&[
        edge(0, StepClass::Progress, 1).violates(Kind::FreeInFlight),
        edge(1, StepClass::Progress, 2).violates(Kind::TornRead),
        edge(2, StepClass::Progress, 3).violates(Kind::Crash),
    ])
    .at_rest(3, Quiet::Final, Kind::Leak);
    let found = |stop_at, length| {
        let options = SwarmOptions { stop_at, length, ..SwarmOptions::default() };
        swarm(&graph, &options, &walks(1)).findings.len()
    };
    // In the walk, and in the drain.
    for length in [10, 0] {
        assert_eq!(found(Some(Severity::Hazard), length), 1);
        assert_eq!(found(Some(Severity::Corruption), length), 2);
        assert_eq!(found(None, length), 4);
    }
}

#[test]
fn a_drain_that_never_rests_is_reported() {
    let graph = Graph::new(&[edge(0, StepClass::Progress, 1), edge(1, StepClass::Progress, 0)]);
    let options = SwarmOptions { length: 10, drain: 30, ..SwarmOptions::default() };
    let walked = swarm(&graph, &options, &walks(5));
    assert_eq!((walked.walks, walked.livelocks, walked.steps), (5, 5, 5 * 40));
}

#[test]
fn limits_from_outside() {
    let machine = PageMachine::new(2, 2, 2);
    let flag = AtomicBool::new(true);
    let options = SwarmOptions { from: 9, ..SwarmOptions::default() };
    let stopped = swarm(&machine, &options, &Budget { stop: Some(&flag), ..Budget::default() });
    assert_eq!((stopped.stop, stopped.walks, stopped.next, stopped.steps), (StopReason::Interrupted, 0, 9, 0));
    let timed = swarm(&machine, &options, &Budget { time: Some(Duration::ZERO), ..Budget::default() });
    assert_eq!(timed.stop, StopReason::Time);
    let none = swarm(&machine, &options, &walks(0));
    assert_eq!((none.stop, none.walks), (StopReason::Walks, 0));
}

#[test]
fn progress_is_told() {
    let last = Cell::new(None);
    let tell = |progress: &Progress| last.set(Some(*progress));
    let budget = Budget { progress: Some(&tell), ..walks(100) };
    let walked = swarm(&planted(Plant::LandingLost), &SwarmOptions::default(), &budget);
    let last = last.get().expect("told");
    assert_eq!((last.walks, last.steps, last.findings), (100, walked.steps, walked.findings.len()));
}
