//! Short lists that are quick to copy.

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;
use std::fmt;
use std::ops::{Deref, DerefMut};

/// A list of which the first `N` items need no heap: a [`SmallVec`] in all but its clone.
///
/// A search copies states all the time, mostly over states that look much alike. `SmallVec` (and any derived `Clone`)
/// then builds a new list beside the old one and moves it over; here `clone_from` touches what is there, and nothing
/// else. Types that hold such lists pass that on with [`clone_by_field`](crate::few::clone_by_field).
#[derive(PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent, bound(serialize = "T: Serialize", deserialize = "T: Deserialize<'de>"))]
pub struct Few<T, const N: usize>(SmallVec<[T; N]>);

impl<T, const N: usize> Few<T, N> {
    /// A list of nothing.
    #[must_use]
    #[inline]
    pub fn new() -> Self {
        Self(SmallVec::new())
    }
}

impl<T: Copy, const N: usize> Few<T, N> {
    /// A list of these items.
    #[must_use]
    #[inline]
    pub fn from_slice(items: &[T]) -> Self {
        Self(SmallVec::from_slice(items))
    }
}

impl<T: Clone, const N: usize> Few<T, N> {
    /// A list of so many of one item.
    #[must_use]
    pub fn from_elem(item: T, count: usize) -> Self {
        Self(SmallVec::from_elem(item, count))
    }

    #[inline(never)]
    fn clone_from_other_length(&mut self, source: &Self) {
        self.0.truncate(source.len());
        let (common, more) = source.split_at(self.len());
        for (mine, theirs) in self.0.iter_mut().zip(common) {
            mine.clone_from(theirs);
        }
        more.iter().for_each(|item| self.0.push(item.clone()));
    }
}

impl<T: Clone, const N: usize> Clone for Few<T, N> {
    #[inline]
    fn clone(&self) -> Self {
        let mut copy = Self::new();
        self.iter().for_each(|item| copy.0.push(item.clone()));
        copy
    }

    #[inline]
    fn clone_from(&mut self, source: &Self) {
        if self.len() != source.len() {
            return self.clone_from_other_length(source);
        }
        for (mine, theirs) in self.0.iter_mut().zip(source) {
            mine.clone_from(theirs);
        }
    }
}

impl<T, const N: usize> Default for Few<T, N> {
    #[inline]
    fn default() -> Self {
        Self::new()
    }
}

impl<T: fmt::Debug, const N: usize> fmt::Debug for Few<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T, const N: usize> Deref for Few<T, N> {
    type Target = SmallVec<[T; N]>;

    #[inline]
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<T, const N: usize> DerefMut for Few<T, N> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl<T: Copy, const N: usize> From<&[T]> for Few<T, N> {
    fn from(items: &[T]) -> Self {
        Self::from_slice(items)
    }
}

impl<T, const N: usize> FromIterator<T> for Few<T, N> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Self(items.into_iter().collect())
    }
}

impl<T, const N: usize> IntoIterator for Few<T, N> {
    type Item = T;
    type IntoIter = smallvec::IntoIter<[T; N]>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a, T, const N: usize> IntoIterator for &'a Few<T, N> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<'a, T, const N: usize> IntoIterator for &'a mut Few<T, N> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.0.iter_mut()
    }
}

/// Implements `Clone` field by field, `clone_from` included: a derived one builds a new value and drops the old one.
macro_rules! clone_by_field {
    ($type:ident $(<$param:ident: $bound:path>)? { $($field:tt),+ $(,)? }) => {
        impl $(<$param: $bound>)? Clone for $type $(<$param>)? {
            fn clone(&self) -> Self {
                Self { $($field: Clone::clone(&self.$field)),+ }
            }

            fn clone_from(&mut self, source: &Self) {
                $(Clone::clone_from(&mut self.$field, &source.$field);)+
            }
        }
    };
}
pub(crate) use clone_by_field;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clone_over_another_list_is_a_clone() {
        let lists: Vec<Few<String, 2>> =
            (0..5).map(|len| (0..len).map(|item| format!("{len}.{item}")).collect()).collect();
        for source in &lists {
            assert_eq!(source.clone(), *source);
            for target in &lists {
                let mut target = target.clone();
                target.clone_from(source);
                assert_eq!(target, *source);
            }
        }
    }
}
