//! A job: one slice or whole cell, one profile, one engine; and what came of it.

use crate::engine::loom::Loom;
use crate::engine::shuttle::{Shuttle, Strategy};
use crate::engine::{loom, shuttle};
use crate::model::{self, Slice};
use crate::record;
use crate::stage::Stage;
use pagefence::cases::Pattern;
use pagefence::cell::Profile;
use pagefence::explore::{Schedule, Words, mix};
use pagefence::lifetime::{Event, Kind, Label, Violation};
use serde::{Deserialize, Serialize};
use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How schedules are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Engine {
    /// Loom: every schedule with at most so many preemptions; every one at all without a bound.
    Loom {
        /// The bound.
        preemptions: Option<usize>,
    },
    /// Shuttle: the portfolio of random strategies, in turn.
    Shuttle,
    /// Shuttle: one of them alone.
    Only(Strategy),
    /// Shuttle: every schedule, depth first.
    Dfs,
}

impl Engine {
    /// Loom with the bound that a pass needs: with less, plain races were seen to be missed.
    pub const LOOM: Self = Self::Loom { preemptions: Some(3) };

    /// What found it, in a word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Loom { .. } => "loom",
            Self::Shuttle | Self::Only(_) => "shuttle",
            Self::Dfs => "depth first",
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Loom { preemptions: Some(bound) } => write!(f, "loom, {bound} preemptions"),
            Self::Loom { preemptions: None } => f.write_str("loom, unbounded"),
            // The strategy that found something is said with it.
            Self::Shuttle => f.write_str("shuttle"),
            Self::Only(strategy) => write!(f, "shuttle, {} alone", strategy.name()),
            Self::Dfs => f.write_str("shuttle, depth first"),
        }
    }
}

/// What is to be run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// The model.
    pub model: String,
    /// The slice or whole cell of it.
    pub slice: String,
    /// The profile.
    pub profile: Profile,
    /// The engine.
    pub engine: Engine,
    /// The seed of what is random.
    pub seed: u64,
    /// At most so many executions.
    pub executions: u64,
    /// At most so long, in milliseconds.
    pub milliseconds: Option<u64>,
    /// Ends at the first violation of this pattern; without one it goes on.
    pub until: Option<Pattern>,
}

/// How a job ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// Every schedule has been tried, up to the bound where there is one.
    Exhausted,
    /// The budget ended first: silence is no proof.
    Truncated,
    /// What was asked for has been found.
    Found,
    /// The engine gave up, or died: a deadlock, a panic, too many steps. This is neither a pass nor a finding.
    Failed(String),
}

/// A signature that a job has met, and the first schedule that showed it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Met {
    /// What makes it the same as others.
    pub signature: Words,
    /// The violation.
    #[serde(with = "pagefence::explore::ViolationInWords")]
    pub violation: Violation,
    /// The schedule.
    pub schedule: Schedule,
    /// Whether only loom saw it: nothing orders the two accesses, though no harm came of it in this run.
    pub unordered: bool,
    /// In which execution, counted from one.
    pub first: u64,
    /// In how many.
    pub count: u64,
    /// By which strategy, where there are several.
    pub strategy: Option<String>,
}

/// What came of a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The job.
    pub job: Job,
    /// How it ended.
    pub ending: Ending,
    /// How many executions ran.
    pub executions: u64,
    /// About how many schedules there are, where that was estimated.
    pub schedules: Option<f64>,
    /// How long it took, in milliseconds.
    pub milliseconds: u64,
    /// What was met, in order.
    pub met: Vec<Met>,
}

/// Executions of one strategy before the next one has its turn.
const BLOCK: usize = 250;
/// Walks of an estimate.
const SAMPLES: usize = 500;

/// Why a job cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// There is no such model or slice.
    #[error("there is no slice `{slice}` in a model `{model}`")]
    NoSlice {
        /// The model.
        model: String,
        /// The slice.
        slice: String,
    },
    /// The engine gave up.
    #[error("{engine} gave up on `{slice}`: {why}")]
    GaveUp {
        /// The engine.
        engine: Engine,
        /// The slice.
        slice: String,
        /// What it said.
        why: String,
    },
    /// Loom has no room for it.
    #[error("loom takes {most} threads at most; `{slice}` has {threads}", most = loom::MAX_THREADS)]
    TooManyThreads {
        /// The slice.
        slice: String,
        /// Its threads.
        threads: usize,
    },
}

/// Ends a run of an engine from within.
struct Enough;

/// What the executions of a job have met so far.
#[derive(Default)]
struct Tally {
    executions: u64,
    met: Vec<Met>,
    strategy: Option<String>,
    ending: Option<Ending>,
}

/// What every execution of a job needs.
struct Bench {
    stage: Stage,
    job: Job,
    began: Instant,
    /// Set by somebody else to end early.
    stop: Option<&'static AtomicBool>,
    tally: Mutex<Tally>,
}

impl Bench {
    fn tally(&self) -> MutexGuard<'_, Tally> {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn over(&self) -> bool {
        let late = self.job.milliseconds.is_some_and(|most| self.began.elapsed() >= Duration::from_millis(most));
        let stopped = self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed));
        late || stopped || self.tally().executions >= self.job.executions
    }

    /// Counts an execution and what it met; ends the run when that was enough.
    fn count(&self, violations: &[Violation]) {
        let mut tally = self.tally();
        tally.executions += 1;
        for violation in violations {
            self.meet(&mut tally, violation, false);
        }
        let found = self.job.until.as_ref().is_some_and(|until| until.is_among(violations));
        drop(tally);
        let ending = if found {
            Ending::Found
        } else if self.over() {
            Ending::Truncated
        } else {
            return;
        };
        self.tally().ending = Some(ending);
        panic_any(Enough);
    }

    fn meet(&self, tally: &mut Tally, violation: &Violation, unordered: bool) {
        let Some(signature) = Words::of(violation) else { return };
        match tally.met.iter_mut().find(|met| met.signature == signature) {
            Some(met) => met.count += 1,
            None => tally.met.push(Met {
                signature,
                violation: violation.clone(),
                schedule: record::schedule(),
                unordered,
                first: tally.executions,
                count: 1,
                strategy: tally.strategy.clone(),
            }),
        }
    }
}

impl Job {
    /// The slice that it is about.
    ///
    /// # Errors
    /// When there is none.
    pub fn slice(&self) -> Result<&'static Slice, JobError> {
        model::slice(&self.model, &self.slice)
            .ok_or_else(|| JobError::NoSlice { model: self.model.clone(), slice: self.slice.clone() })
    }

    /// Runs it on this thread. An engine that aborts takes the process down; [`isolated`](crate::isolated) keeps others
    /// from that.
    ///
    /// # Errors
    /// When there is no such slice, or it has more threads than the engine.
    pub fn run(&self, stop: Option<&'static AtomicBool>) -> Result<Report, JobError> {
        let slice = self.slice()?;
        let threads = slice.shifts.len();
        if matches!(self.engine, Engine::Loom { .. }) && threads > loom::MAX_THREADS {
            return Err(JobError::TooManyThreads { slice: self.slice.clone(), threads });
        }
        let bench = Arc::new(Bench {
            stage: slice.stage(self.profile.switches),
            job: self.clone(),
            began: Instant::now(),
            stop,
            tally: Mutex::default(),
        });
        let schedules = matches!(self.engine, Engine::Dfs).then(|| estimate(&bench));
        let ended = catch_unwind(AssertUnwindSafe(|| explore(&bench)));
        let ending = match ended {
            // An engine that has lost the panic which ended its run has not exhausted anything.
            Ok(ending) => bench.tally().ending.take().unwrap_or(ending),
            Err(panic) => ending_of(&bench, panic.as_ref()),
        };
        let milliseconds = bench.began.elapsed().as_millis() as u64;
        let mut tally = bench.tally();
        let (executions, met) = (tally.executions, std::mem::take(&mut tally.met));
        Ok(Report { job: self.clone(), ending, executions, schedules, milliseconds, met })
    }
}

fn estimate(bench: &Arc<Bench>) -> f64 {
    let bench = Arc::clone(bench);
    let stage = bench.stage.clone();
    shuttle::estimate(bench.job.seed, SAMPLES, move || {
        stage.execute::<Shuttle>();
    })
}

/// Runs the engine to its end. A run that has enough ends by a panic that carries [`Enough`].
fn explore(bench: &Arc<Bench>) -> Ending {
    match bench.job.engine {
        Engine::Loom { preemptions } => {
            let own = Arc::clone(bench);
            loom::explore(preemptions, move || own.count(&own.stage.execute::<Loom>()));
            Ending::Exhausted
        }
        Engine::Dfs => {
            shuttle::exhaust(execution(bench));
            Ending::Exhausted
        }
        Engine::Shuttle => draw(bench, &Strategy::PORTFOLIO),
        Engine::Only(strategy) => draw(bench, &[strategy]),
    }
}

/// Draws a block of schedules by each strategy in turn, until the run ends from within.
fn draw(bench: &Arc<Bench>, strategies: &[Strategy]) -> Ending {
    for (block, strategy) in strategies.iter().cycle().enumerate() {
        bench.tally().strategy = Some(strategy.name());
        shuttle::draw(*strategy, mix(bench.job.seed ^ block as u64), BLOCK, execution(bench));
    }
    Ending::Truncated
}

fn execution(bench: &Arc<Bench>) -> impl Fn() + Send + Sync + use<> {
    let bench = Arc::clone(bench);
    move || bench.count(&bench.stage.execute::<Shuttle>())
}

/// What a panic out of an engine means.
fn ending_of(bench: &Bench, panic: &(dyn Any + Send)) -> Ending {
    let mut tally = bench.tally();
    if let Some(ending) = tally.ending.take() {
        return ending;
    }
    let message = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
    let message = message.unwrap_or("the engine gave no reason");
    tally.executions += 1;
    let racing = message.contains("Causality violation").then(unordered).flatten();
    let Some(violation) = racing else { return Ending::Failed(first_line(message)) };
    bench.meet(&mut tally, &violation, true);
    Ending::Found
}

fn first_line(message: &str) -> String {
    message.trim().lines().next().unwrap_or_default().to_owned()
}

/// The access that loom has just stopped at, as a violation: the oracle heard it before loom saw it.
fn unordered() -> Option<Violation> {
    let events = record::events();
    let (_, site, last) = events.last()?;
    let (life, op, slots) = match last {
        Event::Read { life, cells } | Event::Write { life, cells } => (*life, None, Some(cells.place)),
        Event::Land { op, .. } => {
            let posted = events.iter().rev().find_map(|(_, _, event)| match event {
                Event::Post { op: posted, life, .. } if posted == op => Some(*life),
                _ => None,
            });
            (posted?, Some(*op), None)
        }
        _ => return None,
    };
    Some(Violation { place: slots, op, ..Violation::bare(Kind::TornRead, life, Label::from(*site)) })
}
