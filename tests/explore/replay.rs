//! Scripts, step by step.

use crate::{planted, shortest_free_in_flight};
use pagefence::explore::{Drained, Moment, PageMachine, PageStep, Plant, Replayed, Tail, replay};
use std::ops::ControlFlow;

#[test]
fn tells_each_step_with_its_place_and_its_violations() {
    let mut log = Vec::new();
    let script = shortest_free_in_flight();
    let replayed = replay(&planted(Plant::AbortFreesEarly), &script, Tail::Stop, |moment| {
        if let Moment::Step { index, step, violations, .. } = moment {
            log.push((index, *step, violations.len()));
        }
        ControlFlow::Continue(())
    });
    assert_eq!(replayed, Replayed { taken: 3, ..Replayed::default() });
    assert_eq!(log, [(Some(0), script[0], 0), (Some(1), script[1], 0), (Some(2), script[2], 1)]);
}

#[test]
fn skips_what_is_not_enabled() {
    let land = PageStep::Land { request: 0 };
    let mut script = shortest_free_in_flight();
    script.insert(0, land);
    script.push(PageStep::Post { request: 7 });
    let mut skipped = Vec::new();
    let replayed = replay(&planted(Plant::AbortFreesEarly), &script, Tail::Stop, |moment| {
        if let Moment::Skipped { index, step } = moment {
            skipped.push((index, *step));
        }
        assert!(moment.violations().is_empty() || matches!(moment, Moment::Step { index: Some(3), .. }));
        ControlFlow::Continue(())
    });
    assert_eq!((replayed.taken, replayed.skipped), (3, 2));
    assert_eq!(skipped, [(0, land), (4, PageStep::Post { request: 7 })]);
}

#[test]
fn drains_at_the_end_if_asked_to() {
    let machine = PageMachine::new(1, 1, 1);
    let replayed = replay(&machine, &[], Tail::Drain { bound: 100 }, |_| ControlFlow::Continue(()));
    // Admit, post, land, complete, release.
    assert_eq!(replayed.drained, Some(Drained { steps: 5, livelock: false, stopped: false }));
    let replayed = replay(&machine, &[], Tail::Drain { bound: 4 }, |_| ControlFlow::Continue(()));
    assert_eq!(replayed.drained, Some(Drained { steps: 4, livelock: true, stopped: false }));
}

#[test]
fn the_observer_may_end_it() {
    let machine = planted(Plant::AbortFreesEarly);
    let mut moments = 0;
    let replayed = replay(&machine, &shortest_free_in_flight(), Tail::Drain { bound: 100 }, |_| {
        moments += 1;
        if moments == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert_eq!((moments, replayed.taken, replayed.stopped, replayed.drained), (2, 2, true, None));
    let replayed = replay(&machine, &[], Tail::Drain { bound: 100 }, |_| ControlFlow::Break(()));
    assert_eq!(replayed.drained, Some(Drained { steps: 1, livelock: false, stopped: true }));
    assert!(replayed.stopped);
}
