//! The checkers, and the platforms on which they run the cell.

pub mod follow;
pub mod loom;
pub mod shuttle;

/// Implements what a shared cell needs over a mutex of an engine: one `with` is one access, recorded.
macro_rules! shared_over_mutex {
    ($cell:ident, $me:path) => {
        impl<T: Clone> Clone for $cell<T> {
            fn clone(&self) -> Self {
                Self::holding(self.lock().clone())
            }
        }

        impl<T: Clone + PartialEq> PartialEq for $cell<T> {
            fn eq(&self, other: &Self) -> bool {
                // Never both locks at once: two comparisons in opposite order would wait for each other.
                let mine = self.lock().clone();
                mine == *other.lock()
            }
        }

        impl<T: Clone + Eq> Eq for $cell<T> {}

        impl<T: std::hash::Hash> std::hash::Hash for $cell<T> {
            fn hash<H: std::hash::Hasher>(&self, hasher: &mut H) {
                self.lock().hash(hasher);
            }
        }

        impl<T: std::fmt::Debug> std::fmt::Debug for $cell<T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.lock().fmt(f)
            }
        }

        impl<T: pagefence::platform::State> pagefence::platform::Shared<T> for $cell<T> {
            fn new(value: T) -> Self {
                Self::holding(value)
            }

            fn with<R>(&self, access: impl FnOnce(&mut T) -> R) -> R {
                let mut content = self.lock();
                if let Some(thread) = $me() {
                    crate::record::access::<T>(thread);
                }
                access(&mut content)
            }
        }
    };
}

/// Implements a lock over a mutex of an engine. To take it and to give it back are recorded.
macro_rules! lock_over_mutex {
    ($lock:ident, $me:path) => {
        impl pagefence::platform::Lock for $lock {
            fn new() -> Self {
                Self(Mutex::new(()))
            }

            fn hold<R>(&self, act: impl FnOnce() -> R) -> R {
                let guard = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                let thread = $me();
                thread.inspect(|thread| crate::record::step(*thread, "lock"));
                let result = act();
                drop(guard);
                thread.inspect(|thread| crate::record::step(*thread, "unlock"));
                result
            }
        }

        impl Clone for $lock {
            fn clone(&self) -> Self {
                pagefence::platform::Lock::new()
            }
        }

        /// All locks are alike: what one guards is elsewhere.
        impl PartialEq for $lock {
            fn eq(&self, _: &Self) -> bool {
                true
            }
        }

        impl Eq for $lock {}

        impl std::hash::Hash for $lock {
            fn hash<H: std::hash::Hasher>(&self, _: &mut H) {}
        }
    };
}

use lock_over_mutex;
use shared_over_mutex;
