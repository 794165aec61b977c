//! Every fair step until nothing is left to do.

use crate::graph::{Graph, edge};
use crate::planted;
use pagefence::explore::StepClass::{Client, Fault, Progress, Timer};
use pagefence::explore::{Drained, Moment, PageMachine, PageStep, Plant, Protocol, Quiet, Walker};
use pagefence::lifetime::Kind;
use std::ops::ControlFlow;

/// The steps and judgements of a drain from the initial state.
fn drained(graph: &Graph, bound: usize) -> (Drained, Vec<String>) {
    let mut log = Vec::new();
    let drained = Walker::new(graph).drain(bound, |moment| {
        log.push(match moment {
            Moment::Step { step, state, index: None, .. } => format!("{step}>{state}"),
            Moment::Rest { quiet: Quiet::TimersPending, state, .. } => format!("pending {state}"),
            Moment::Rest { quiet: Quiet::Final, state, .. } => format!("final {state}"),
            Moment::Step { .. } | Moment::Skipped { .. } => "not of a drain".into(),
        });
        ControlFlow::Continue(())
    });
    (drained, log)
}

#[test]
fn progress_first_then_timers_never_faults_nor_clients() {
    let graph = Graph::new(&[
        edge(0, Timer, 9),
        edge(0, Fault, 9),
        edge(0, Client, 9),
        edge(0, Progress, 1),
        edge(1, Fault, 9),
        edge(1, Timer, 2),
        edge(2, Progress, 3),
        edge(3, Client, 9),
    ]);
    let (drained, log) = drained(&graph, 10);
    assert_eq!(log, ["3>1", "pending 1", "5>2", "6>3", "final 3"]);
    assert_eq!(drained, Drained { steps: 3, livelock: false, stopped: false });
}

#[test]
fn idle_polls_and_idle_timers_are_not_taken() {
    let graph = Graph::new(&[edge(0, Progress, 0), edge(0, Timer, 0)]);
    assert_eq!(drained(&graph, 10), (Drained::default(), vec!["final 0".to_owned()]));
    let graph = Graph::new(&[edge(0, Progress, 0), edge(0, Timer, 0), edge(0, Timer, 1)]);
    assert_eq!(drained(&graph, 10).1, ["pending 0", "2>1", "final 1"]);
}

#[test]
fn no_timer_starves() {
    // Two timers; the first alone goes round for ever.
    let graph = Graph::new(&[edge(0, Timer, 1), edge(0, Timer, 2), edge(1, Progress, 0)]);
    assert_eq!(drained(&graph, 10).1, ["pending 0", "0>1", "2>0", "pending 0", "1>2", "final 2"]);
}

#[test]
fn livelock_is_reported_and_never_judged() {
    let progress = Graph::new(&[edge(0, Progress, 1), edge(1, Progress, 0)]);
    let timers = Graph::new(&[edge(0, Timer, 1), edge(1, Timer, 0)]);
    for graph in [progress, timers] {
        let (drained, log) = drained(&graph, 7);
        assert_eq!(drained, Drained { steps: 7, livelock: true, stopped: false });
        assert!(!log.iter().any(|line| line.starts_with("final")), "{log:?}");
    }
    // A bound that is just enough is enough.
    let graph = Graph::new(&[edge(0, Progress, 1), edge(1, Timer, 2)]);
    assert!(!drained(&graph, 2).0.livelock);
    assert!(drained(&graph, 1).0.livelock);
    assert!(drained(&graph, 0).0.livelock);
}

#[test]
fn the_observer_may_end_it_anywhere() {
    let graph = Graph::new(&[edge(0, Progress, 1), edge(1, Timer, 2)]);
    // Four moments: a step, pending, the timer, the end.
    for (moments, steps, state) in [(1, 1, 1), (2, 1, 1), (3, 2, 2), (4, 2, 2)] {
        let mut left = moments;
        let mut walker = Walker::new(&graph);
        let drained = walker.drain(10, |_| {
            left -= 1;
            if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert_eq!((drained, *walker.state()), (Drained { steps, livelock: false, stopped: true }, state));
    }
}

/// What a drain finds after some steps of the page machine.
fn found_after(machine: &PageMachine, script: &[PageStep]) -> Vec<Kind> {
    let mut walker = Walker::new(machine);
    for step in script {
        assert!(walker.enabled().contains(step), "{step:?}");
        walker.take(step);
    }
    let mut kinds = Vec::new();
    let drained = walker.drain(1000, |moment| {
        kinds.extend(moment.violations().iter().map(|violation| violation.kind));
        ControlFlow::Continue(())
    });
    assert!(!drained.livelock && drained.steps > 0);
    kinds
}

#[test]
fn finds_what_leaks_and_what_is_stuck() {
    let abort =
        [PageStep::Admit { request: 1, page: 0 }, PageStep::Post { request: 1 }, PageStep::Abort { request: 1 }];
    assert_eq!(found_after(&PageMachine::new(2, 2, 2), &abort), []);
    assert_eq!(found_after(&planted(Plant::PageForgotten), &abort), [Kind::Leak]);
    assert_eq!(found_after(&planted(Plant::LandingLost), &abort), [Kind::Stuck, Kind::Leak]);
    // Nothing is wrong with them as long as nothing fails.
    for plant in [Plant::PageForgotten, Plant::LandingLost] {
        assert_eq!(found_after(&planted(plant), &[]), []);
    }
}

#[test]
fn the_page_machine_obeys_the_contract() {
    // A step that is not enabled leaves the state as it is and violates nothing; an enabled one changes it.
    let machine = PageMachine::new(2, 2, 2).plant(Some(Plant::AbortFreesEarly));
    let mut steps = Vec::new();
    for request in 0..9 {
        steps.extend((0..5).map(|page| PageStep::Admit { request, page }));
        steps.extend((0..5).map(|page| PageStep::Stray { request, page }));
        steps.extend([PageStep::Post { request }, PageStep::Land { request }, PageStep::Complete { request }]);
        steps.extend([PageStep::Release { request }, PageStep::Abort { request }, PageStep::Retry { request }]);
    }
    let (mut seen, mut queue) = (std::collections::HashSet::from([machine.initial()]), vec![machine.initial()]);
    while let Some(state) = queue.pop() {
        let mut enabled = Vec::new();
        machine.steps(&state, &mut enabled);
        for step in &steps {
            let (mut next, mut violations) = (state.clone(), Vec::new());
            machine.apply(&mut next, step, &mut violations);
            assert_eq!(next != state, enabled.contains(step), "{step:?} in {state:?}");
            assert!(next != state || violations.is_empty());
            if seen.insert(next.clone()) {
                queue.push(next);
            }
        }
    }
    assert!(seen.len() > 100);
}
