//! Shuttle: random schedules of large models, and every schedule of small ones. Sequentially consistent.

use super::{lock_over_mutex, shared_over_mutex};
use pagefence::platform::{Order, Platform, State, Threads, Unwatched};
use serde::{Deserialize, Serialize};
use shuttle::scheduler::{
    DfsScheduler, PctScheduler, RandomScheduler, Schedule, Scheduler, Task, TaskId, UrwRandomScheduler,
};
use shuttle::sync::Mutex;
use shuttle::sync::atomic::{AtomicBool, Ordering};
use std::cell::Cell;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, PoisonError, TryLockError};

/// The platform of shuttle's threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shuttle;

/// State behind a point at which shuttle may let another thread come first. One access is one such point: a mutex of
/// shuttle's would be two, and a thread could be held up with the lock in its hand.
pub struct ShuttleCell<T> {
    point: AtomicBool,
    content: std::sync::Mutex<T>,
}

impl<T> ShuttleCell<T> {
    const fn holding(value: T) -> Self {
        Self { point: AtomicBool::new(false), content: std::sync::Mutex::new(value) }
    }

    /// Never waits: shuttle runs one thread at a time, and no access is within another.
    fn lock(&self) -> Access<'_, T> {
        self.point.load(Ordering::SeqCst);
        let content = match self.content.try_lock() {
            Ok(content) => content,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => unreachable!("an access within an access"),
        };
        WITHIN.set(true);
        Access(content)
    }
}

std::thread_local! {
    /// Whether the thread that runs is within an access. One for all: shuttle's threads share an operating-system thread,
    /// and none is interrupted within an access.
    static WITHIN: Cell<bool> = const { Cell::new(false) };
}

/// An access, as long as it takes.
#[derive(Debug)]
struct Access<'a, T>(std::sync::MutexGuard<'a, T>);

impl<T> Drop for Access<'_, T> {
    fn drop(&mut self) {
        WITHIN.set(false);
    }
}

impl<T> Deref for Access<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for Access<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

/// A mutex of shuttle's around nothing.
#[derive(Debug)]
pub struct ShuttleLock(Mutex<()>);

lock_over_mutex!(ShuttleLock, me);

/// Which thread of the cell runs: tasks are numbered as they are made, the first one makes the others.
fn me() -> Option<u8> {
    usize::from(shuttle::current::me()).checked_sub(1).map(|thread| thread as u8)
}

shared_over_mutex!(ShuttleCell, me);

impl Platform for Shuttle {
    type Cell<T: State> = ShuttleCell<T>;
    type Lock = ShuttleLock;
    type Memory = Unwatched;
}

/// A point at which shuttle may let another thread be heard first, except within an access, which has had its own.
pub struct Point(AtomicBool);

impl Order for Point {
    fn new() -> Self {
        Self(AtomicBool::new(false))
    }

    fn next(&self) {
        if !WITHIN.get() {
            self.0.load(Ordering::SeqCst);
        }
    }
}

impl Threads for Shuttle {
    type Order = Point;

    fn run(bodies: Vec<Box<dyn FnOnce() + Send>>) {
        let threads: Vec<_> = bodies.into_iter().map(shuttle::thread::spawn).collect();
        for thread in threads {
            thread.join().expect("shuttle ends the run when a thread panics");
        }
    }

    fn give_way() {
        shuttle::thread::yield_now();
    }
}

/// How schedules are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Strategy {
    /// Probabilistic concurrency testing with this bound on the depth of a bug.
    Pct(usize),
    /// Uniform random walk.
    Uniform,
    /// Each choice at random.
    Random,
}

impl Strategy {
    /// What is taken in turn: no single one is best at every race.
    pub const PORTFOLIO: [Self; 4] = [Self::Pct(3), Self::Pct(5), Self::Uniform, Self::Random];

    /// Its name in reports.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Self::Pct(depth) => format!("pct{depth}"),
            Self::Uniform => "urw".to_owned(),
            Self::Random => "random".to_owned(),
        }
    }

    fn scheduler(self, seed: u64, executions: usize) -> Box<dyn Scheduler + Send> {
        match self {
            Self::Pct(depth) => Box::new(PctScheduler::new_from_seed(seed, depth, executions)),
            Self::Uniform => Box::new(UrwRandomScheduler::new_from_seed(seed, executions)),
            Self::Random => Box::new(RandomScheduler::new_from_seed(seed, executions)),
        }
    }
}

/// Runs executions of `execution` as `scheduler` has it, and as many as it has.
///
/// # Panics
/// When the engine does: a deadlock, a panic of the code, too many steps.
pub(super) fn run(scheduler: impl Scheduler + 'static, execution: impl Fn() + Send + Sync + 'static) {
    let mut config = shuttle::Config::new();
    config.stack_size = 1 << 19;
    config.failure_persistence = shuttle::FailurePersistence::None;
    shuttle::Runner::new(scheduler, config).run(execution);
}

/// Runs `executions` executions of `execution` on schedules drawn by `strategy` from `seed`.
///
/// # Panics
/// When the engine does: a deadlock, a panic of the code, too many steps.
pub fn draw(strategy: Strategy, seed: u64, executions: usize, execution: impl Fn() + Send + Sync + 'static) {
    run(strategy.scheduler(seed, executions), execution);
}

/// Runs every schedule of `execution`, depth first.
///
/// # Panics
/// As [`draw`].
pub fn exhaust(execution: impl Fn() + Send + Sync + 'static) {
    run(DfsScheduler::new(None, false), execution);
}

/// About how many schedules `execution` has: Knuth's estimate over `samples` random walks down the tree of choices.
///
/// # Panics
/// As [`draw`].
#[must_use]
pub fn estimate(seed: u64, samples: usize, execution: impl Fn() + Send + Sync + 'static) -> f64 {
    let leaves = Arc::new(std::sync::Mutex::new(Vec::new()));
    let knuth =
        Knuth { walk: RandomScheduler::new_from_seed(seed, samples), product: 0.0, leaves: Arc::clone(&leaves) };
    run(knuth, execution);
    let leaves = leaves.lock().unwrap_or_else(PoisonError::into_inner);
    leaves.iter().sum::<f64>() / leaves.len().max(1) as f64
}

/// Walks at random and multiplies the numbers of choices.
struct Knuth {
    walk: RandomScheduler,
    product: f64,
    leaves: Arc<std::sync::Mutex<Vec<f64>>>,
}

impl Knuth {
    fn end_walk(&mut self) {
        if self.product > 0.0 {
            self.leaves.lock().unwrap_or_else(PoisonError::into_inner).push(self.product);
        }
    }
}

impl Drop for Knuth {
    fn drop(&mut self) {
        self.end_walk();
    }
}

impl Scheduler for Knuth {
    fn new_execution(&mut self) -> Option<Schedule> {
        self.end_walk();
        self.product = 1.0;
        self.walk.new_execution().or_else(|| {
            self.product = 0.0;
            None
        })
    }

    fn next_task(&mut self, runnable: &[&Task], current: Option<TaskId>, yields: bool) -> Option<TaskId> {
        self.product *= runnable.len() as f64;
        self.walk.next_task(runnable, current, yields)
    }

    fn next_u64(&mut self) -> u64 {
        self.walk.next_u64()
    }
}
