//! A hunt: every chosen explorer on one profile in one scope, each signature once, each with its smallest script.

use super::budget::{Budget, StopReason};
use super::exhaustive::{ExhaustiveOptions, exhaustive};
use super::finding::Finding;
use super::found::Found;
use super::serving::Serving;
use super::signature::Signature;
use super::swarm::{Mix, SwarmOptions, swarm};
use crate::cell::{Config, Profile, Scope, Step};
use crate::lifetime::Severity;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Which explorer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Explorer {
    /// Breadth-first search of every state, with symmetry.
    Exhaustive,
    /// Random walks, each with its own mix of faults and weights.
    Swarm,
    /// Random walks that choose among enabled steps alike.
    Uniform,
}

impl Explorer {
    /// Every explorer.
    pub const ALL: [Self; 3] = [Self::Exhaustive, Self::Swarm, Self::Uniform];

    /// Its name on the command line and in findings.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exhaustive => "exhaustive",
            Self::Swarm => "swarm",
            Self::Uniform => "uniform",
        }
    }
}

impl fmt::Display for Explorer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How to hunt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HuntOptions {
    /// Where random walks take their numbers from.
    pub seed: u64,
    /// How many threads.
    pub jobs: usize,
    /// Who hunts, in this order; the time is divided among them.
    pub explorers: Vec<Explorer>,
    /// A path ends at what is this severe.
    pub stop_at: Severity,
    /// Whether scripts are made as small as they get.
    pub minimise: bool,
}

/// What one explorer did.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Run {
    /// Who.
    pub explorer: Explorer,
    /// How long it took.
    pub seconds: f64,
    /// States that were visited; random walks do not count them.
    pub states: Option<u64>,
    /// Transitions of a search, or steps of random walks.
    pub steps: u64,
    /// The depth of a search.
    pub depth: Option<u32>,
    /// Random walks.
    pub walks: Option<u64>,
    /// Walks whose drain never came to rest. Not a pass.
    pub livelocks: u64,
    /// Why it stopped; only `closed` means that nothing was left to look at.
    pub stop: StopReason,
    /// How many signatures it met.
    pub signatures: usize,
}

/// What a hunt did and found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hunt {
    /// What each explorer did.
    pub runs: Vec<Run>,
    /// Each signature once, the worst first, and among equals the shortest script first.
    pub findings: Vec<Finding>,
}

impl Hunt {
    /// Whether some explorer saw every state that can be reached.
    #[must_use]
    pub fn closed(&self) -> bool {
        self.runs.iter().any(|run| run.stop == StopReason::Closed)
    }

    /// Random walks that never came to rest.
    #[must_use]
    pub fn livelocks(&self) -> u64 {
        self.runs.iter().map(|run| run.livelocks).sum()
    }
}

/// Walks that still check a search which has closed: there is nothing left for them to find.
const CROSS_CHECK: u64 = 1024;

/// Hunts until the budget is spent. With several explorers each may use an equal share of the time that is left. A
/// caller who sets `budget.stop` gets what was found until then, its scripts as they are.
pub fn hunt(profile: &Profile, scope: &Scope, options: &HuntOptions, budget: &Budget<'_>) -> Hunt {
    let serving = Serving::new(Config { switches: profile.switches, scope: scope.clone() });
    let began = Instant::now();
    let mut hunt = Hunt { runs: Vec::new(), findings: Vec::new() };
    for (at, explorer) in options.explorers.iter().enumerate() {
        let left = (options.explorers.len() - at) as u32;
        let time = budget.time.map(|time| time.saturating_sub(began.elapsed()) / left);
        let walks =
            if hunt.closed() { Some(CROSS_CHECK.min(budget.walks.unwrap_or(CROSS_CHECK))) } else { budget.walks };
        let budget = Budget { time, walks, ..*budget };
        let (run, found) = explore(&serving, *explorer, options, &budget);
        let reached =
            found.iter().any(|found| budget.until.is_some_and(|rung| found.signature.kind.severity() >= rung));
        hunt.runs.push(run);
        add(&mut hunt.findings, &found, (profile, scope), *explorer, options.seed);
        if reached || stopped(&budget) {
            break;
        }
    }
    if options.minimise {
        for finding in &mut hunt.findings {
            if stopped(budget) {
                break;
            }
            if let Some(small) = finding.minimise() {
                *finding = small;
            }
        }
    }
    let severity = |finding: &Finding| finding.violation.kind.severity();
    hunt.findings.sort_by_key(|f| (std::cmp::Reverse(severity(f)), f.script.len(), f.signature));
    hunt
}

fn stopped(budget: &Budget<'_>) -> bool {
    budget.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
}

/// Adds signatures that are new; of the known ones only the count grows, since the first explorer's scripts are the
/// shorter ones.
fn add(
    findings: &mut Vec<Finding>,
    found: &[Found<Step>],
    (profile, scope): (&Profile, &Scope),
    explorer: Explorer,
    seed: u64,
) {
    for found in found {
        match findings.iter_mut().find(|known| Signature::from(known.signature) == found.signature) {
            Some(known) => known.found.count += found.count,
            None => findings.extend(Finding::new(found, profile.clone(), scope.clone(), explorer.name(), seed)),
        }
    }
}

/// Lets one explorer loose.
fn explore(
    serving: &Serving,
    explorer: Explorer,
    options: &HuntOptions,
    budget: &Budget<'_>,
) -> (Run, Vec<Found<Step>>) {
    let began = Instant::now();
    let stop_at = Some(options.stop_at);
    let mut run = Run {
        explorer,
        seconds: 0.0,
        states: None,
        steps: 0,
        depth: None,
        walks: None,
        livelocks: 0,
        stop: StopReason::Closed,
        signatures: 0,
    };
    let mix = match explorer {
        Explorer::Exhaustive => None,
        Explorer::Swarm => Some(Mix::Swarm),
        Explorer::Uniform => Some(Mix::Uniform),
    };
    let found = if let Some(mix) = mix {
        // Without any limit walks would go on for ever.
        let time = budget.time.or(budget.walks.is_none().then_some(Duration::from_secs(30)));
        let walks = SwarmOptions { seed: options.seed, mix, stop_at, jobs: options.jobs, ..SwarmOptions::default() };
        let done = swarm(serving, &walks, &Budget { time, ..*budget });
        (run.steps, run.walks, run.livelocks, run.stop) = (done.steps, Some(done.walks), done.livelocks, done.stop);
        done.findings
    } else {
        let search = ExhaustiveOptions { stop_at, symmetry: true, jobs: options.jobs };
        let done = exhaustive(serving, &search, budget);
        (run.states, run.steps, run.depth, run.stop) =
            (Some(done.states), done.transitions, Some(done.depth), done.stop);
        done.findings
    };
    run.seconds = began.elapsed().as_secs_f64();
    run.signatures = found.len();
    (run, found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lifetime::Kind;

    fn options(explorers: &[Explorer]) -> HuntOptions {
        let explorers = explorers.to_vec();
        HuntOptions { seed: 1, jobs: 1, explorers, stop_at: Severity::Corruption, minimise: true }
    }

    #[test]
    fn explorers_share_signatures_and_scripts_are_small() {
        let profile = Profile::preset("sglang-0.5.11").unwrap();
        let scope = crate::library::scope("abort").unwrap();
        let budget = Budget { walks: Some(256), states: Some(20_000), ..Budget::default() };
        let hunt = hunt(&profile, &scope, &options(&Explorer::ALL), &budget);
        assert_eq!(hunt.runs.len(), 3);
        let mut signatures: Vec<_> = hunt.findings.iter().map(|finding| finding.signature).collect();
        assert!(signatures.iter().any(|words| words.kind == Kind::FreeInFlight), "{signatures:?}");
        signatures.sort_unstable();
        signatures.dedup();
        assert_eq!(signatures.len(), hunt.findings.len());
        for finding in &hunt.findings {
            assert!(finding.minimised);
            assert!(finding.reproduce(profile.switches).same.is_some(), "{}", finding.signature);
        }
        assert!(hunt.findings.is_sorted_by_key(|f| std::cmp::Reverse(f.violation.kind.severity())));
    }

    #[test]
    fn a_stopped_hunt_keeps_what_it_has() {
        let stop = std::sync::atomic::AtomicBool::new(true);
        let budget = Budget { stop: Some(&stop), ..Budget::default() };
        let scope = crate::library::scope("abort").unwrap();
        let hunt = hunt(&Profile::reference(), &scope, &options(&Explorer::ALL), &budget);
        assert_eq!(hunt.runs.len(), 1);
        assert_eq!(hunt.runs[0].stop, StopReason::Interrupted);
        assert!(!hunt.closed());
    }
}
