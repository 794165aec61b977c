//! Faults planted on purpose. A run whose explorers miss one proves nothing.

use super::budget::{Budget, StopReason};
use super::exhaustive::{Exhaustive, ExhaustiveOptions, exhaustive};
use super::found::Found;
use super::minimise::{MinimiseOptions, minimise};
use super::page_machine::{PageMachine, PageStep, Plant};
use super::replay::{Tail, replay};
use super::signature::Signature;
use super::swarm::{Mix, SwarmOptions, swarm};
use crate::lifetime::Kind;
use std::ops::ControlFlow;
use thiserror::Error;

/// An explorer does not do its work, and nothing that it says can be trusted.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MissedCanary {
    /// A planted fault was not found.
    #[error("canary missed: {explorer} does not find {kind} in a machine with {plant:?} planted")]
    Missed {
        /// Which explorer.
        explorer: &'static str,
        /// Which fault.
        plant: Plant,
        /// What it should have found.
        kind: Kind,
    },
    /// Something was found where nothing is wrong.
    #[error("canary dead: {explorer} finds {kind} in a machine without a fault")]
    FalseAlarm {
        /// Which explorer.
        explorer: &'static str,
        /// What it claims.
        kind: Kind,
    },
    /// A small machine was not searched to its end.
    #[error("canary missed: {explorer} visits {states} states of the canary's machine and stops ({stop:?})")]
    Unfinished {
        /// Which explorer.
        explorer: &'static str,
        /// How many states it visited.
        states: u64,
        /// Why it stopped.
        stop: StopReason,
    },
}

/// The faults, and everything that each leads to.
const PLANTED: [(Plant, &[Kind]); 3] = [
    (Plant::AbortFreesEarly, &[Kind::FreeInFlight, Kind::ReuseInFlight, Kind::WriteAfterFree]),
    (Plant::PageForgotten, &[Kind::Leak]),
    (Plant::LandingLost, &[Kind::Stuck]),
];

const SEARCH: &str = "exhaustive search";
const SYMMETRY: &str = "exhaustive search with symmetry";
const UNIFORM: &str = "uniform random walks";
const SWARM: &str = "swarm random walks";
const MINIMISE: &str = "the minimiser";
const REPLAY: &str = "replay";

/// Lets every explorer loose on a small machine, with each planted fault and with none. Takes a few milliseconds.
///
/// # Errors
///
/// If an explorer misses a planted fault, finds one where there is none, or does not finish.
pub fn canary(jobs: usize) -> Result<(), MissedCanary> {
    let machine = PageMachine::new(2, 2, 2);
    for (explorer, symmetry) in [(SEARCH, false), (SYMMETRY, true)] {
        silent(explorer, &search(explorer, &machine, symmetry, jobs)?.findings)?;
    }
    for (explorer, mix) in [(UNIFORM, Mix::Uniform), (SWARM, Mix::Swarm)] {
        silent(explorer, &walk(&machine, mix, jobs))?;
    }
    for (plant, kinds) in PLANTED {
        planted(&machine.plant(Some(plant)), plant, kinds, jobs)?;
    }
    Ok(())
}

/// Every explorer on a machine with a fault.
fn planted(machine: &PageMachine, plant: Plant, kinds: &[Kind], jobs: usize) -> Result<(), MissedCanary> {
    for &kind in kinds {
        for (explorer, symmetry) in [(SEARCH, false), (SYMMETRY, true)] {
            finding(explorer, plant, kind, &search(explorer, machine, symmetry, jobs)?.findings)?;
        }
        for (explorer, mix) in [(UNIFORM, Mix::Uniform), (SWARM, Mix::Swarm)] {
            let findings = walk(machine, mix, jobs);
            let found = finding(explorer, plant, kind, &findings)?;
            small_script(machine, plant, &found.signature, &found.steps)?;
        }
    }
    Ok(())
}

/// A search of the whole machine.
fn search(
    explorer: &'static str,
    machine: &PageMachine,
    symmetry: bool,
    jobs: usize,
) -> Result<Exhaustive<PageStep>, MissedCanary> {
    let options = ExhaustiveOptions { symmetry, jobs, ..ExhaustiveOptions::default() };
    finished(explorer, exhaustive(machine, &options, &Budget::default()))
}

fn finished(explorer: &'static str, all: Exhaustive<PageStep>) -> Result<Exhaustive<PageStep>, MissedCanary> {
    if all.closed && all.states > 1 {
        Ok(all)
    } else {
        Err(MissedCanary::Unfinished { explorer, states: all.states, stop: all.stop })
    }
}

/// Random walks, more than enough.
fn walk(machine: &PageMachine, mix: Mix, jobs: usize) -> Vec<Found<PageStep>> {
    let options = SwarmOptions { mix, jobs, length: 64, ..SwarmOptions::default() };
    let budget = Budget { walks: Some(512), ..Budget::default() };
    swarm(machine, &options, &budget).findings
}

/// The script can be minimised, and what is left still shows the same when it is replayed.
fn small_script(
    machine: &PageMachine,
    plant: Plant,
    signature: &Signature,
    script: &[PageStep],
) -> Result<(), MissedCanary> {
    let missed = |explorer| MissedCanary::Missed { explorer, plant, kind: signature.kind };
    let options = MinimiseOptions::default();
    let small = minimise(machine, script, signature, &options).ok_or_else(|| missed(MINIMISE))?;
    let mut shown = false;
    let tail = if small.in_tail { options.tail } else { Tail::Stop };
    let replayed = replay(machine, &small.steps, tail, |moment| {
        shown |= moment.violations().iter().any(|violation| Signature::from(violation) == *signature);
        ControlFlow::Continue(())
    });
    if shown && replayed.skipped == 0 { Ok(()) } else { Err(missed(REPLAY)) }
}

fn silent(explorer: &'static str, findings: &[Found<PageStep>]) -> Result<(), MissedCanary> {
    match findings.first() {
        None => Ok(()),
        Some(found) => Err(MissedCanary::FalseAlarm { explorer, kind: found.signature.kind }),
    }
}

fn finding<'a>(
    explorer: &'static str,
    plant: Plant,
    kind: Kind,
    findings: &'a [Found<PageStep>],
) -> Result<&'a Found<PageStep>, MissedCanary> {
    let found = findings.iter().find(|found| found.signature.kind == kind);
    found.ok_or(MissedCanary::Missed { explorer, plant, kind })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_explorer_finds_every_fault() {
        for jobs in [1, 2] {
            assert_eq!(canary(jobs), Ok(()));
        }
    }

    #[test]
    fn a_fault_that_is_not_there_is_missed() {
        for (plant, kinds) in PLANTED {
            let sound = PageMachine::new(2, 2, 2);
            let missed = MissedCanary::Missed { explorer: SEARCH, plant, kind: kinds[0] };
            assert_eq!(planted(&sound, plant, kinds, 1), Err(missed));
            let walked = walk(&sound, Mix::Uniform, 1);
            let missed = MissedCanary::Missed { explorer: UNIFORM, plant, kind: kinds[0] };
            assert_eq!(finding(UNIFORM, plant, kinds[0], &walked), Err(missed));
        }
    }

    #[test]
    fn a_script_that_shows_nothing_is_missed() {
        let faulty = PageMachine::new(2, 2, 2).plant(Some(Plant::AbortFreesEarly));
        let found = &walk(&faulty, Mix::Uniform, 1)[0];
        let sound = faulty.plant(None);
        let kind = found.signature.kind;
        let missed = MissedCanary::Missed { explorer: MINIMISE, plant: Plant::AbortFreesEarly, kind };
        assert_eq!(small_script(&sound, Plant::AbortFreesEarly, &found.signature, &found.steps), Err(missed.clone()));
        assert!(missed.to_string().contains("the minimiser does not find"), "{missed}");
    }

    #[test]
    fn a_finding_in_a_sound_machine_is_a_false_alarm() {
        let faulty = PageMachine::new(2, 2, 2).plant(Some(Plant::LandingLost));
        let alarm = silent(SWARM, &walk(&faulty, Mix::Swarm, 1));
        assert_eq!(alarm, Err(MissedCanary::FalseAlarm { explorer: SWARM, kind: Kind::Stuck }));
    }

    #[test]
    fn a_search_that_was_cut_short_is_no_canary() {
        let budget = Budget { states: Some(10), ..Budget::default() };
        let cut = exhaustive(&PageMachine::new(2, 2, 2), &ExhaustiveOptions::default(), &budget);
        let unfinished = MissedCanary::Unfinished { explorer: SEARCH, states: 10, stop: StopReason::States };
        assert_eq!(finished(SEARCH, cut), Err(unfinished));
    }
}
