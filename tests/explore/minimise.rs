//! The smallest script that still shows the same thing.

use crate::graph::{Graph, edge};
use crate::{planted, shortest_free_in_flight, shows};
use pagefence::explore::StepClass::{Fault, Progress};
use pagefence::explore::{
    Budget, ExhaustiveOptions, Keep, MinimiseOptions, PageMachine, PageStep, Plant, Quiet, Signature, SwarmOptions,
    Tail, exhaustive, minimise, swarm,
};
use pagefence::lifetime::{Kind, Severity};

const STOP: MinimiseOptions = MinimiseOptions { keep: Keep::Signature, tail: Tail::Stop };

/// Long scripts of random walks, for each signature of a machine.
fn long_scripts(machine: &PageMachine) -> Vec<(Signature, Vec<PageStep>)> {
    let options = SwarmOptions { stop_at: None, seed: 11, ..SwarmOptions::default() };
    let walked = swarm(machine, &options, &Budget { walks: Some(64), ..Budget::default() });
    walked.findings.into_iter().map(|found| (found.signature, found.steps)).collect()
}

#[test]
fn padding_goes() {
    let machine = PageMachine::new(4, 3, 2).plant(Some(Plant::AbortFreesEarly));
    let request = 3;
    let mut script = Vec::new();
    for other in 0..3u8 {
        let page = other % 2;
        script.extend([PageStep::Admit { request: other, page }, PageStep::Post { request: other }]);
        script.push(PageStep::Retry { request: other });
        script.extend([PageStep::Land { request: other }, PageStep::Complete { request: other }]);
        script.push(PageStep::Release { request: other });
    }
    let core = [PageStep::Admit { request, page: 2 }, PageStep::Post { request }, PageStep::Abort { request }];
    for (at, step) in core.into_iter().enumerate() {
        script.insert(at * 5 + 2, step);
    }
    let [(signature, _), ..] = shows(&machine, &script, Tail::Stop)[..] else { panic!("shows nothing") };
    let small = minimise(&machine, &script, &signature, &STOP).expect("it shows it");
    assert_eq!((small.steps, small.in_tail), (core.to_vec(), false));
    assert_eq!(Signature::from(&small.violation), signature);
}

#[test]
fn comes_down_to_the_shortest_script_there_is() {
    let machine = planted(Plant::AbortFreesEarly);
    let all = exhaustive(&machine, &ExhaustiveOptions::default(), &Budget::default());
    for (signature, script) in long_scripts(&machine) {
        let shortest = all.findings.iter().find(|found| found.signature == signature).expect("found exhaustively");
        let small = minimise(&machine, &script, &signature, &STOP).expect("it shows it");
        assert_eq!(small.steps.len(), shortest.steps.len(), "{:?}", small.steps);
        assert_eq!(minimise(&machine, &script, &signature, &STOP), Some(small), "deterministic");
    }
}

#[test]
fn a_drain_takes_the_fair_steps() {
    for (plant, kind) in [(Plant::PageForgotten, Kind::Leak), (Plant::LandingLost, Kind::Stuck)] {
        let machine = planted(plant);
        let scripts = long_scripts(&machine);
        let (signature, script) = scripts.iter().find(|(signature, _)| signature.kind == kind).expect("found");
        let small = minimise(&machine, script, signature, &MinimiseOptions::default()).expect("it shows it");
        // A page, a write, and an abort; the rest is fair.
        assert!(small.in_tail);
        assert_eq!(small.steps.len(), 3, "{:?}", small.steps);
        assert_eq!(minimise(&machine, script, signature, &STOP), None, "not without a drain");
    }
}

#[test]
fn what_is_not_shown_is_not_minimised() {
    let script = shortest_free_in_flight();
    let machine = planted(Plant::AbortFreesEarly);
    let (signature, _) = shows(&machine, &script, Tail::Stop)[0];
    assert_eq!(minimise(&machine.plant(None), &script, &signature, &MinimiseOptions::default()), None);
    let other = Signature { kind: Kind::Crash, ..signature };
    assert_eq!(minimise(&machine, &script, &other, &MinimiseOptions::default()), None);
}

#[test]
fn the_same_kind_may_be_shown_in_another_way() {
    // It crashes twice; the first crash is another one of the same kind.
    let graph = Graph::new(&[
        edge(0, Fault, 1),
        edge(1, Progress, 2).violates(Kind::Crash),
        edge(2, Progress, 3).violates(Kind::Crash),
    ]);
    let script = [0, 1, 2];
    let (signature, _) = shows(&graph, &script, Tail::Stop)[1];
    assert_eq!(minimise(&graph, &script, &signature, &STOP).expect("shown").steps, [0, 1, 2]);
    let kind = MinimiseOptions { keep: Keep::Kind, ..STOP };
    assert_eq!(minimise(&graph, &script, &signature, &kind).expect("shown").steps, [0, 1]);
}

#[test]
fn steps_that_only_go_together_go_together() {
    // A way there and back again before the step that matters.
    let graph = Graph::new(&[
        edge(0, Fault, 1),
        edge(1, Fault, 0),
        edge(0, Progress, 2).violates(Kind::Leak),
        edge(1, Progress, 3),
        edge(3, Progress, 1),
    ]);
    for script in [&[0, 1, 2][..], &[0, 1, 0, 1, 2], &[0, 3, 4, 1, 2]] {
        let (signature, _) = shows(&graph, script, Tail::Stop)[0];
        assert_eq!(minimise(&graph, script, &signature, &STOP).expect("shown").steps, [2], "{script:?}");
    }
}

#[test]
fn at_rest_without_a_step() {
    let graph = Graph::new(&[edge(0, Progress, 1)]).at_rest(1, Quiet::Final, Kind::Leak);
    let (signature, _) = shows(&graph, &[0], Tail::Drain { bound: 5 })[0];
    let small = minimise(&graph, &[0], &signature, &MinimiseOptions::default()).expect("shown");
    assert_eq!((small.steps, small.in_tail, small.violation.kind.severity()), (vec![], true, Severity::Leak));
}
