//! How much a run may spend, how it tells where it is, and why it stopped.

use crate::lifetime::Severity;
use serde::Serialize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Why a run stopped. Only [`Closed`](Self::Closed) means that nothing was left to look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopReason {
    /// Every reachable state was visited.
    Closed,
    /// The time limit.
    Time,
    /// The limit of states.
    States,
    /// The memory limit.
    Memory,
    /// A finding that was severe enough ([`Budget::until`]).
    Found,
    /// The caller's stop flag.
    Interrupted,
    /// As many random walks as were asked for.
    Walks,
}

/// Where a run is, as its progress callback is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Since the run began.
    pub elapsed: Duration,
    /// Distinct states so far; zero in random walks, which do not count them.
    pub states: u64,
    /// Transitions, or steps of random walks.
    pub steps: u64,
    /// The level of a breadth-first search, in steps from the initial state.
    pub depth: u32,
    /// States of this level and the next that wait to be expanded.
    pub frontier: u64,
    /// Random walks finished.
    pub walks: u64,
    /// Distinct signatures so far.
    pub findings: usize,
}

/// The limits of a run. The default has none.
#[derive(Clone, Copy, Default)]
pub struct Budget<'a> {
    /// How long it may take; looked at every few hundred states, or every few walks.
    pub time: Option<Duration>,
    /// How many states an exhaustive search may visit.
    pub states: Option<u64>,
    /// About how many bytes an exhaustive search may hold.
    pub memory: Option<u64>,
    /// How many random walks.
    pub walks: Option<u64>,
    /// Stop as soon as something at least this severe is found. Looked at between fixed batches of work, so that the
    /// result does not depend on the number of workers.
    pub until: Option<Severity>,
    /// Set by somebody else (a signal handler) to end the run early.
    pub stop: Option<&'a AtomicBool>,
    /// Told now and then, from the thread that started the run.
    pub progress: Option<&'a dyn Fn(&Progress)>,
}

/// A running budget.
pub(super) struct Clock<'a> {
    began: Instant,
    time: Option<Duration>,
    stop: Option<&'a AtomicBool>,
}

impl<'a> Clock<'a> {
    pub(super) fn start(budget: &Budget<'a>) -> Self {
        Self { began: Instant::now(), time: budget.time, stop: budget.stop }
    }

    pub(super) fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// Whether a limit from outside the search is reached.
    pub(super) fn expired(&self) -> Option<StopReason> {
        if self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            return Some(StopReason::Interrupted);
        }
        self.time.is_some_and(|time| self.elapsed() >= time).then_some(StopReason::Time)
    }
}
