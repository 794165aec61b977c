//! The checkers, and the platforms on which they run the cell.

pub mod follow;
pub mod loom;
pub mod priorities;
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
                let result = access(&mut content);
                // Recorded at its end, after what was said within: where an engine lets others come first in between,
                // they do nothing to this cell, and might as well have come before.
                if let Some(thread) = $me() {
                    crate::record::access::<T>(thread);
                }
                result
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

#[cfg(test)]
mod tests {
    use super::{loom, shuttle};
    use pagefence::platform::{Order, Platform, Shared, Threads};
    use std::collections::BTreeSet;
    use std::sync::{Arc, Mutex};

    /// Where the first of two threads says that it has opened a gate.
    #[derive(Clone, Copy, PartialEq)]
    enum Says {
        /// After the access that opened it.
        After,
        /// Within that access.
        Within,
    }

    type Heard = Arc<Mutex<BTreeSet<Vec<u8>>>>;

    /// One execution: the first thread opens a gate and says so, the second says so if it finds the gate open. Adds the
    /// order in which they were heard to `heard`.
    fn open_a_gate<P: Threads>(says: Says, heard: &Heard)
    where
        <P as Platform>::Cell<bool>: Send + Sync,
    {
        let shared = Arc::new((P::Cell::<bool>::new(false), P::Order::new(), Mutex::new(Vec::new())));
        let [opener, comer] = [Arc::clone(&shared), Arc::clone(&shared)];
        let say = |shared: &(P::Cell<bool>, P::Order, Mutex<Vec<u8>>), thread| {
            shared.1.next();
            shared.2.lock().unwrap().push(thread);
        };
        P::run(vec![
            Box::new(move || {
                opener.0.with(|open| {
                    *open = true;
                    if says == Says::Within {
                        say(&opener, 1);
                    }
                });
                if says == Says::After {
                    say(&opener, 1);
                }
            }),
            Box::new(move || {
                if comer.0.with(|open| *open) {
                    say(&comer, 2);
                }
            }),
        ]);
        let order = shared.2.lock().unwrap().clone();
        heard.lock().unwrap().insert(order);
    }

    /// Every order in which the threads are heard, under each engine.
    fn orders(says: Says) -> [BTreeSet<Vec<u8>>; 2] {
        let [by_loom, by_shuttle] = [Heard::default(), Heard::default()];
        let heard = Arc::clone(&by_loom);
        loom::explore(Some(3), move || open_a_gate::<loom::Loom>(says, &heard));
        let heard = Arc::clone(&by_shuttle);
        shuttle::exhaust(move || open_a_gate::<shuttle::Shuttle>(says, &heard));
        [by_loom, by_shuttle].map(|heard| heard.lock().unwrap().clone())
    }

    #[test]
    fn what_is_said_after_an_access_may_be_heard_after_its_consequences() {
        let all = BTreeSet::from([vec![1], vec![1, 2], vec![2, 1]]);
        assert_eq!(orders(Says::After), [all.clone(), all]);
    }

    #[test]
    fn what_is_said_within_an_access_is_heard_before_its_consequences() {
        let all = BTreeSet::from([vec![1], vec![1, 2]]);
        assert_eq!(orders(Says::Within), [all.clone(), all]);
    }
}
