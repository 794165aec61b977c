//! Runs cases: every case on every profile that it names, by two explorers that know nothing of each other.

use super::case::Case;
use super::suite::Suite;
use crate::cell::{Profile, Scope, Switches};
use crate::explore::{Budget, Explorer, Finding, HuntOptions, StopReason, hunt};
use crate::input::InputError;
use crate::lifetime::Severity;
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicBool, Ordering};

/// How to check.
#[derive(Clone, Copy, Debug)]
pub struct CheckOptions<'a> {
    /// Where random walks take their numbers from.
    pub seed: u64,
    /// How many threads.
    pub jobs: usize,
    /// How many states an exhaustive search may visit before it counts as truncated.
    pub states: u64,
    /// The same on `reference`, which is meant to hold everywhere: there only a search that closes says anything.
    pub reference_states: u64,
    /// How many random walks.
    pub walks: u64,
    /// Set by somebody else to end early.
    pub stop: Option<&'a AtomicBool>,
}

/// What a case says of a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Expected {
    /// The fault is there.
    Found,
    /// It is not.
    Held,
    /// It is not, since what the case names as its remedy is on.
    Stopped,
}

/// How a case came out on a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// As declared.
    AsDeclared,
    /// It should have been found, and was not.
    Missing,
    /// It should not have been found, and was.
    Unexpected,
}

impl Verdict {
    /// What it means that a fault was shown, or not.
    #[must_use]
    pub const fn of(expected: Expected, shown: bool) -> Self {
        match (expected, shown) {
            (Expected::Found, false) => Self::Missing,
            (Expected::Held | Expected::Stopped, true) => Self::Unexpected,
            _ => Self::AsDeclared,
        }
    }
}

/// One cell of the table case x profile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The case.
    pub case: String,
    /// The profile.
    pub profile: String,
    /// The scope, or the slice or whole cell of a model.
    pub scope: String,
    /// What the case says.
    pub expected: Expected,
    /// How it came out.
    pub verdict: Verdict,
    /// Which explorers or engines found it, by name.
    pub by: Vec<String>,
    /// How long the explorers looked, in seconds; a scope that several cases share is searched once.
    pub seconds: f64,
    /// Whether the exhaustive search saw every state that can be reached, or loom every schedule up to its bound: only
    /// then is `held` a proof.
    pub closed: bool,
    /// Whether the case's own script was replayed instead of a search.
    pub replayed: bool,
    /// The shortest script that shows it, as it was found.
    pub finding: Option<Box<Finding>>,
}

impl Row {
    /// Whether threads raced for it: a model and its slice are written with a slash, and no scope is.
    #[must_use]
    pub fn is_race(&self) -> bool {
        self.scope.contains('/')
    }
}

/// A path ends at what is this severe: no less, or the faults that show only behind a corruption are not found.
pub const STOP_AT: Severity = Severity::Exposure;

/// The explorers of a check.
const EXPLORERS: [Explorer; 2] = [Explorer::Exhaustive, Explorer::Swarm];

/// What each explorer found on one profile in one scope.
struct Searched {
    switches: Switches,
    scope: Scope,
    found: Vec<(Explorer, Vec<Finding>)>,
    seconds: f64,
    closed: bool,
}

impl Suite {
    /// Runs every case that `chosen` picks on every profile that it names, and tells `each` row as it comes. Returns all
    /// rows; fewer than all when it was stopped.
    ///
    /// # Errors
    /// When a case names a profile or a scope that does not exist; shipped ones do not.
    pub fn check(
        &self,
        chosen: impl Fn(&Case) -> bool,
        options: &CheckOptions<'_>,
        mut each: impl FnMut(&Row),
    ) -> Result<Vec<Row>, InputError> {
        let mut searched: Vec<Searched> = Vec::new();
        let mut rows = Vec::new();
        for case in self.cases().iter().filter(|case| chosen(case)) {
            let scopes = case.scopes()?;
            for (expected, profile) in plan(case)? {
                for scope in &scopes {
                    // A remedy is judged by the case's own script: other faults with the same signature are not what
                    // it stops.
                    let by_script =
                        (expected == Expected::Stopped).then(|| case.script_shows(&profile, scope)).flatten();
                    let outcome = match by_script {
                        Some(shown) => Outcome { shown, replayed: true, ..Outcome::default() },
                        None => match search(&mut searched, &profile, scope, options) {
                            Some(searched) => judge(case, searched),
                            None => return Ok(rows),
                        },
                    };
                    let row = outcome.row(case, expected, &profile, scope);
                    each(&row);
                    rows.push(row);
                }
            }
        }
        Ok(rows)
    }

    /// How many rows [`check`](Self::check) will tell of all cases; for a progress bar.
    #[must_use]
    pub fn rows(&self) -> usize {
        let of = |case: &Case| plan(case).map_or(0, |plan| plan.len()) * case.producers.len().max(1);
        self.cases().iter().map(of).sum()
    }
}

/// Every profile that a case names, with what it says of it.
fn plan(case: &Case) -> Result<Vec<(Expected, Profile)>, InputError> {
    let named = |words: &[String], expected| -> Result<Vec<_>, InputError> {
        words.iter().map(|words| Ok((expected, Case::profile(words)?))).collect()
    };
    let mut plan = named(&case.found, Expected::Found)?;
    plan.extend(named(&case.held, Expected::Held)?);
    plan.extend(case.stopped()?.map(|profile| (Expected::Stopped, profile)));
    Ok(plan)
}

/// Looks, or remembers having looked. `None`: it was stopped.
fn search<'a>(
    searched: &'a mut Vec<Searched>,
    profile: &Profile,
    scope: &Scope,
    options: &CheckOptions<'_>,
) -> Option<&'a Searched> {
    let known = searched.iter().position(|done| done.switches == profile.switches && done.scope == *scope);
    if let Some(known) = known {
        return Some(&searched[known]);
    }
    let reference = profile.switches == Profile::reference().switches;
    let mut found = Vec::new();
    let (mut seconds, mut closed) = (0.0, false);
    for explorer in EXPLORERS {
        let hunting = HuntOptions {
            seed: options.seed,
            jobs: options.jobs,
            explorers: vec![explorer],
            stop_at: STOP_AT,
            minimise: false,
        };
        let budget = Budget {
            states: Some(if reference { options.reference_states } else { options.states }),
            walks: Some(options.walks),
            stop: options.stop,
            ..Budget::default()
        };
        let hunt = hunt(profile, scope, &hunting, &budget);
        if options.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            return None;
        }
        seconds += hunt.runs.iter().map(|run| run.seconds).sum::<f64>();
        closed |= hunt.runs.iter().any(|run| run.stop == StopReason::Closed);
        found.push((explorer, hunt.findings));
    }
    searched.push(Searched { switches: profile.switches, scope: scope.clone(), found, seconds, closed });
    searched.last()
}

/// What looking at a case on a profile showed.
#[derive(Default)]
struct Outcome {
    shown: bool,
    by: Vec<&'static str>,
    seconds: f64,
    closed: bool,
    replayed: bool,
    finding: Option<Box<Finding>>,
}

impl Outcome {
    fn row(self, case: &Case, expected: Expected, profile: &Profile, scope: &Scope) -> Row {
        let Self { shown, by, seconds, closed, replayed, finding } = self;
        let verdict = Verdict::of(expected, shown);
        let by = by.into_iter().map(str::to_owned).collect();
        let (case, profile, scope) = (case.id.clone(), profile.name.clone(), scope.name.clone());
        Row { case, profile, scope, expected, verdict, by, seconds, closed, replayed, finding }
    }
}

/// Picks out of a search what the case is about.
fn judge(case: &Case, searched: &Searched) -> Outcome {
    let mut by = Vec::new();
    let mut finding: Option<&Finding> = None;
    for (explorer, found) in &searched.found {
        let shows = found.iter().filter(|found| case.violation.matches(&found.signature));
        let Some(shortest) = shows.min_by_key(|found| found.script.len()) else { continue };
        by.push(explorer.name());
        if finding.is_none_or(|known| shortest.script.len() < known.script.len()) {
            finding = Some(shortest);
        }
    }
    Outcome {
        shown: !by.is_empty(),
        by,
        seconds: searched.seconds,
        closed: searched.closed,
        replayed: false,
        finding: finding.cloned().map(Box::new),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Pattern, Status};
    use super::*;
    use crate::lifetime::Kind;

    fn case(found: &[&str], held: &[&str], kind: Kind) -> Case {
        let list = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        Case {
            id: "X".to_owned(),
            title: String::new(),
            status: Status::Public,
            references: Vec::new(),
            story: String::new(),
            scope: "incident-small".to_owned(),
            producers: Vec::new(),
            script: Vec::new(),
            violation: Pattern { kinds: vec![kind], ..Pattern::default() },
            consequences: Vec::new(),
            found: list(found),
            held: list(held),
            stopped_by: Vec::new(),
            races: Vec::new(),
        }
    }

    fn verdicts(case: Case) -> Vec<(Expected, Verdict, usize)> {
        let suite = Suite::of(vec![case]);
        let options =
            CheckOptions { seed: 1, jobs: 1, states: 50_000, reference_states: 50_000, walks: 256, stop: None };
        let rows = suite.check(|_| true, &options, |_| {}).unwrap();
        rows.iter().map(|row| (row.expected, row.verdict, row.by.len())).collect()
    }

    #[test]
    fn a_fault_that_is_there_is_found_by_both_explorers() {
        let rows = verdicts(case(&["sglang-0.5.11"], &["reference"], Kind::StaleRead));
        assert_eq!(rows, [(Expected::Found, Verdict::AsDeclared, 2), (Expected::Held, Verdict::AsDeclared, 0)]);
    }

    #[test]
    fn a_fault_that_is_not_there_is_missing_and_one_that_should_not_be_is_unexpected() {
        let rows = verdicts(case(&["reference"], &["sglang-0.5.11"], Kind::StaleRead));
        assert_eq!(rows, [(Expected::Found, Verdict::Missing, 0), (Expected::Held, Verdict::Unexpected, 2)]);
    }
}
