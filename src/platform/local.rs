//! One thread, no locks: the cell as a value.

use super::{NoLock, Platform, Shared, State, Unwatched};
use std::cell::RefCell;
use std::hash::{Hash, Hasher};

/// The platform of the explorers: the whole cell is one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Local;

/// A `RefCell` that clones, compares and hashes by content.
#[derive(Debug)]
pub struct LocalCell<T>(RefCell<T>);

impl<T: Clone> Clone for LocalCell<T> {
    fn clone(&self) -> Self {
        Self(RefCell::new(self.0.borrow().clone()))
    }

    fn clone_from(&mut self, source: &Self) {
        self.0.get_mut().clone_from(&source.0.borrow());
    }
}

impl<T: PartialEq> PartialEq for LocalCell<T> {
    fn eq(&self, other: &Self) -> bool {
        *self.0.borrow() == *other.0.borrow()
    }
}

impl<T: Eq> Eq for LocalCell<T> {}

impl<T: Hash> Hash for LocalCell<T> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.0.borrow().hash(hasher);
    }
}

impl<T: State> Shared<T> for LocalCell<T> {
    fn new(value: T) -> Self {
        Self(RefCell::new(value))
    }

    fn with<R>(&self, access: impl FnOnce(&mut T) -> R) -> R {
        access(&mut self.0.borrow_mut())
    }
}

impl Platform for Local {
    type Cell<T: State> = LocalCell<T>;
    type Lock = NoLock;
    type Memory = Unwatched;
}
