//! What a platform supplies to the serving cell: shared cells and threads.
//!
//! The cell is written once. On [`Local`] it is a value that is cloned, compared and hashed, so that it can be explored
//! exhaustively; on [`Std`] the same code runs on operating-system threads. One call of [`Shared::with`] is one access:
//! a method that reads in one `with` and writes in another is atomic on `Local` and racy on threads, as in the engine.

mod local;
mod threads;

pub use local::{Local, LocalCell};
pub use threads::{Std, StdCell};

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

/// How shared state is held.
pub trait Platform: 'static {
    /// The cell that holds a `T`.
    type Cell<T: State>: Shared<T>;
}

/// A platform with real threads.
pub trait Threads: Platform {
    /// Runs every body on a thread of its own and returns when all have ended.
    ///
    /// # Panics
    /// When a body panics.
    fn run(bodies: Vec<Box<dyn FnOnce() + Send>>);
    /// Gives way to other threads; called by a body that found nothing to do.
    fn give_way();
}
