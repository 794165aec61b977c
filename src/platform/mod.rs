//! What a platform supplies to the serving cell: shared cells and threads.
//!
//! The cell is written once. On [`Local`] it is a value that is cloned, compared and hashed, so that it can be explored
//! exhaustively; on [`Std`] the same code runs on operating-system threads. One call of [`Shared::with`] is one access:
//! a method that reads in one `with` and writes in another is atomic on `Local` and racy on threads, as in the engine.

mod local;
mod threads;

pub use local::{Local, LocalCell};
pub use threads::{Std, StdCell, StdLock};

use crate::lifetime::Span;
use std::fmt::Debug;
use std::hash::Hash;

/// What can live in a shared cell.
pub trait State: Clone + Eq + Hash + Debug + Send + 'static {}

impl<T: Clone + Eq + Hash + Debug + Send + 'static> State for T {}

/// A piece of state that several threads reach. One `with` is one access to it.
///
/// Cells clone, compare and hash by content, so that a whole world of them does.
pub trait Shared<T>: Clone + Eq + Hash + Debug + Send {
    /// A cell that holds `value`.
    fn new(value: T) -> Self;
    /// One access.
    fn with<R>(&self, access: impl FnOnce(&mut T) -> R) -> R;
}

/// The memory behind the slots of an arena, as devices reach it: without a lock, and in no order but the one that the
/// protocol brings about.
///
/// What the memory holds is the oracle's business. A platform that can tell whether two accesses are ordered watches
/// them here, slot by slot, and so judges a landing that races a read a second time, independently of the oracle.
pub trait Memory: Clone + Eq + Hash + Debug + Send {
    /// Memory of `slots` slots.
    fn new(slots: u32) -> Self;
    /// Somebody writes to `slots`.
    fn write(&self, slots: Span);
    /// Somebody reads `slots`.
    fn read(&self, slots: Span);
}

/// Memory that nobody watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Unwatched;

impl Memory for Unwatched {
    #[inline]
    fn new(_: u32) -> Self {
        Self
    }

    #[inline]
    fn write(&self, _: Span) {}

    #[inline]
    fn read(&self, _: Span) {}
}

/// A lock around several accesses, for designs that have one.
pub trait Lock: Clone + Eq + Hash + Debug + Send {
    /// A lock that nobody holds.
    fn new() -> Self;
    /// Does something while no other thread does anything under this lock. Not to be nested.
    fn hold<R>(&self, act: impl FnOnce() -> R) -> R;
}

/// A lock where there are no threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NoLock;

impl Lock for NoLock {
    #[inline]
    fn new() -> Self {
        Self
    }

    #[inline]
    fn hold<R>(&self, act: impl FnOnce() -> R) -> R {
        act()
    }
}

/// How shared state is held.
pub trait Platform: 'static {
    /// The cell that holds a `T`.
    type Cell<T: State>: Shared<T>;
    /// The lock.
    type Lock: Lock;
    /// The memory that devices write and read.
    type Memory: Memory;
}

/// The order in which the threads of a run are heard.
///
/// What the oracle is told is no access to shared state: it orders nothing, and a schedule that tells it otherwise would
/// hide the very races it looks for. But which of two threads is heard first decides what it says. A platform that tries
/// schedules must therefore know that this order is one of the things to try; see [`Order::next`].
pub trait Order: Send + Sync + 'static {
    /// Nobody has been heard yet.
    fn new() -> Self;
    /// The calling thread is heard next. Another may come first, also where the caller is within an access, unless the
    /// platform makes an access and what is said within it one. Nothing that a thread did before is ordered by this.
    fn next(&self);
}

/// The order of threads that nobody schedules.
#[derive(Clone, Copy, Debug)]
pub struct AsItComes;

impl Order for AsItComes {
    fn new() -> Self {
        Self
    }

    fn next(&self) {}
}

/// A platform with real threads.
pub trait Threads: Platform {
    /// The order in which threads are heard.
    type Order: Order;
    /// Runs every body on a thread of its own and returns when all have ended.
    ///
    /// # Panics
    /// When a body panics.
    fn run(bodies: Vec<Box<dyn FnOnce() + Send>>);
    /// Gives way to other threads; called by a body that found nothing to do.
    fn give_way();
}
