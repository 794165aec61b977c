//! Operating-system threads and `std`'s mutex.

use super::{AsItComes, Lock, Platform, Shared, State, Threads, Unwatched};
use std::hash::{Hash, Hasher};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The platform of ordinary threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Std;

/// A mutex that clones, compares and hashes by content, each under its lock.
#[derive(Debug)]
pub struct StdCell<T>(Mutex<T>);

impl<T> StdCell<T> {
    /// A panic elsewhere must not hide behind a poisoned lock: the panic itself is what is reported.
    fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Clone> Clone for StdCell<T> {
    fn clone(&self) -> Self {
        Self(Mutex::new(self.lock().clone()))
    }
}

impl<T: Clone + PartialEq> PartialEq for StdCell<T> {
    fn eq(&self, other: &Self) -> bool {
        // Never both locks at once: two comparisons in opposite order would wait for each other.
        let mine = self.lock().clone();
        mine == *other.lock()
    }
}

impl<T: Clone + Eq> Eq for StdCell<T> {}

impl<T: Hash> Hash for StdCell<T> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.lock().hash(hasher);
    }
}

impl<T: State> Shared<T> for StdCell<T> {
    fn new(value: T) -> Self {
        Self(Mutex::new(value))
    }

    fn with<R>(&self, access: impl FnOnce(&mut T) -> R) -> R {
        access(&mut self.lock())
    }
}

/// A mutex around nothing. All of them are alike: what one guards is elsewhere.
#[derive(Debug)]
pub struct StdLock(Mutex<()>);

impl Lock for StdLock {
    fn new() -> Self {
        Self(Mutex::new(()))
    }

    fn hold<R>(&self, act: impl FnOnce() -> R) -> R {
        let _guard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        act()
    }
}

impl Clone for StdLock {
    fn clone(&self) -> Self {
        Self::new()
    }
}

impl PartialEq for StdLock {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for StdLock {}

impl Hash for StdLock {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

impl Platform for Std {
    type Cell<T: State> = StdCell<T>;
    type Lock = StdLock;
    type Memory = Unwatched;
}

impl Threads for Std {
    type Order = AsItComes;

    fn run(bodies: Vec<Box<dyn FnOnce() + Send>>) {
        let threads: Vec<_> = bodies.into_iter().map(std::thread::spawn).collect();
        for thread in threads {
            if let Err(panic) = thread.join() {
                std::panic::resume_unwind(panic);
            }
        }
    }

    fn give_way() {
        std::thread::yield_now();
    }
}
