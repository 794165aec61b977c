//! The explorers, on the page machine, on graphs drawn by hand, and on random graphs.

mod drain;
mod exhaustive;
mod graph;
mod minimise;
mod naive;
mod random_graphs;
mod replay;
mod swarm;

use pagefence::explore::{Moment, PageMachine, PageStep, Plant, Protocol, Signature, Tail, replay};
use pagefence::lifetime::Kind;
use std::ops::ControlFlow;

/// All faults, and none.
const PLANTS: [Option<Plant>; 4] =
    [None, Some(Plant::AbortFreesEarly), Some(Plant::PageForgotten), Some(Plant::LandingLost)];

/// A small machine with a fault.
fn planted(plant: Plant) -> PageMachine {
    PageMachine::new(2, 2, 2).plant(Some(plant))
}

/// The signatures that a script shows, in order, with the number of steps after which each is first seen.
fn shows<P: Protocol>(protocol: &P, script: &[P::Step], tail: Tail) -> Vec<(Signature, usize)> {
    let (mut seen, mut steps): (Vec<(Signature, usize)>, _) = (Vec::new(), 0);
    replay(protocol, script, tail, |moment| {
        steps += usize::from(matches!(moment, Moment::Step { .. }));
        for signature in moment.violations().iter().map(Signature::from) {
            if seen.iter().all(|(known, _)| *known != signature) {
                seen.push((signature, steps));
            }
        }
        ControlFlow::Continue(())
    });
    seen
}

/// The shortest way to a page that is freed under a write.
fn shortest_free_in_flight() -> Vec<PageStep> {
    vec![PageStep::Admit { request: 0, page: 0 }, PageStep::Post { request: 0 }, PageStep::Abort { request: 0 }]
}

/// The kinds of some findings, sorted.
fn kinds<'a>(signatures: impl IntoIterator<Item = &'a Signature>) -> Vec<Kind> {
    let mut kinds: Vec<Kind> = signatures.into_iter().map(|signature| signature.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}
