//! Loom: every schedule of a small model, up to a number of preemptions, with weak memory.

use super::{lock_over_mutex, shared_over_mutex};
use ::loom::cell::UnsafeCell;
use ::loom::sync::atomic::{AtomicUsize, Ordering};
use ::loom::sync::{Mutex, MutexGuard};
use pagefence::lifetime::Span;
use pagefence::platform::{Memory, Order, Platform, State, Threads};
use std::cell::Cell;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::PoisonError;

/// The platform of loom's threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Loom;

/// A mutex of loom's.
pub struct LoomCell<T>(Mutex<T>);

impl<T> LoomCell<T> {
    fn holding(value: T) -> Self {
        Self(Mutex::new(value))
    }

    fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A mutex of loom's around nothing.
#[derive(Debug)]
pub struct LoomLock(Mutex<()>);

lock_over_mutex!(LoomLock, me);

::loom::thread_local! {
    static ME: Cell<Option<u8>> = Cell::new(None);
}

/// Which thread of the cell runs; none while the threads are made and after they have ended.
fn me() -> Option<u8> {
    ME.with(Cell::get)
}

shared_over_mutex!(LoomCell, me);

/// Memory whose every slot loom watches: two accesses, one of them a write, that nothing orders end the run.
pub struct Tracked(Vec<Slot>);

/// Nothing is kept in it: the oracle knows what a slot holds. What loom watches is who reaches it when.
struct Slot(UnsafeCell<()>);

// Loom's cell is not `Sync`, so that a reference to what is in it never gets to another thread. There is nothing in it, no
// pointer into it is used, and loom runs one thread at a time.
#[allow(unsafe_code)]
unsafe impl Sync for Slot {}

impl Tracked {
    fn slots(&self, slots: Span) -> &[Slot] {
        &self.0[slots.start as usize..slots.end() as usize]
    }
}

impl Memory for Tracked {
    fn new(slots: u32) -> Self {
        Self((0..slots).map(|_| Slot(UnsafeCell::new(()))).collect())
    }

    fn write(&self, slots: Span) {
        self.slots(slots).iter().for_each(|slot| slot.0.with_mut(|_| ()));
    }

    fn read(&self, slots: Span) {
        self.slots(slots).iter().for_each(|slot| slot.0.with(|_| ()));
    }
}

impl Clone for Tracked {
    fn clone(&self) -> Self {
        Self::new(self.0.len() as u32)
    }
}

impl PartialEq for Tracked {
    fn eq(&self, other: &Self) -> bool {
        self.0.len() == other.0.len()
    }
}

impl Eq for Tracked {}

impl Hash for Tracked {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.0.len().hash(hasher);
    }
}

impl fmt::Debug for Tracked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} tracked slots", self.0.len())
    }
}

impl Platform for Loom {
    type Cell<T: State> = LoomCell<T>;
    type Lock = LoomLock;
    type Memory = Tracked;
}

/// Loom tries both orders of two accesses only where they are to one object of its own, and one of them changes it. So to
/// be heard changes a number that nobody reads; relaxed, it orders nothing that a thread did before.
#[derive(Debug)]
pub struct Heard(AtomicUsize);

impl Order for Heard {
    fn new() -> Self {
        Self(AtomicUsize::new(0))
    }

    fn next(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl Threads for Loom {
    type Order = Heard;

    fn run(bodies: Vec<Box<dyn FnOnce() + Send>>) {
        let start = |(thread, body): (usize, Box<dyn FnOnce() + Send>)| {
            let work = move || {
                ME.with(|me| me.set(Some(thread as u8)));
                body();
            };
            ::loom::thread::Builder::new().stack_size(THREAD_STACK).spawn(work).expect("loom has room for this thread")
        };
        let threads: Vec<_> = bodies.into_iter().enumerate().map(start).collect();
        for thread in threads {
            thread.join().expect("loom ends the run when a thread panics");
        }
    }

    fn give_way() {
        ::loom::thread::yield_now();
    }
}

/// The stack of a thread, in words, and that of the thread that makes the others, in bytes. Loom's own default of 32 KiB is
/// too small for a scheduler, and it lets nobody choose that of the first thread.
const THREAD_STACK: usize = 1 << 16;
const FIRST_STACK: usize = 1 << 20;

/// The most threads of a slice: loom has room for five, and one of them starts the others.
pub const MAX_THREADS: usize = 4;

/// Runs every schedule of `execution` with at most `preemptions` preemptions; without a bound, every schedule.
///
/// # Panics
/// When the engine does (a deadlock, a panic of the code, an access that nothing orders) or when `execution` ends the run
/// that way.
pub fn explore(preemptions: Option<usize>, execution: impl Fn() + Send + Sync + 'static) {
    let mut builder = ::loom::model::Builder::new();
    builder.preemption_bound = preemptions;
    builder.max_branches = 100_000;
    // A limit of loom's own would end the run without a word; the job keeps its own.
    builder.max_permutations = None;
    builder.max_duration = None;
    builder.check(move || stacker::grow(FIRST_STACK, &execution));
}

#[cfg(test)]
mod tests {
    use super::*;
    use pagefence::platform::Shared;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Arc;

    /// Whether loom objects to a write and a read of one slot, each by a thread, behind `between`.
    fn objects(between: impl Fn(&LoomCell<u8>) + Send + Sync + Copy + 'static) -> bool {
        let run = move || {
            let shared = Arc::new((Tracked::new(1), <LoomCell<u8> as Shared<u8>>::new(0)));
            let (writer, reader) = (Arc::clone(&shared), Arc::clone(&shared));
            let write: Box<dyn FnOnce() + Send> = Box::new(move || {
                writer.0.write(Span::new(0, 1));
                between(&writer.1);
            });
            let read: Box<dyn FnOnce() + Send> = Box::new(move || {
                if reader.1.with(|seen| *seen) == 1 {
                    reader.0.read(Span::new(0, 1));
                }
            });
            Loom::run(vec![write, read]);
        };
        catch_unwind(AssertUnwindSafe(|| explore(Some(3), run))).is_err()
    }

    #[test]
    fn a_read_that_a_shared_cell_orders_after_the_write_is_fine() {
        assert!(!objects(|cell| cell.with(|seen| *seen = 1)));
    }

    #[test]
    fn a_read_that_nothing_orders_is_not() {
        let run = || {
            let memory = Arc::new(Tracked::new(1));
            let (writer, reader) = (Arc::clone(&memory), memory);
            let write: Box<dyn FnOnce() + Send> = Box::new(move || writer.write(Span::new(0, 1)));
            let read: Box<dyn FnOnce() + Send> = Box::new(move || reader.read(Span::new(0, 1)));
            Loom::run(vec![write, read]);
        };
        assert!(catch_unwind(AssertUnwindSafe(|| explore(Some(3), run))).is_err());
    }
}
