//! A run-length map: what every index of a pool holds, in as few extents as it takes.

use super::slot::Span;
use crate::few::Few;
use std::fmt;

/// A maximal run of equal values. It starts where the one before it ends.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Segment<V> {
    /// One past its last index.
    end: u32,
    value: V,
}

/// A total map from the indices `0 .. len` to values, kept as maximal runs of equal values.
///
/// The form is canonical: neighbouring runs differ, so two maps that hold the same values are structurally equal and
/// hash alike. Work and memory go with the number of runs, never with `len`: a pool of a million free tokens is one
/// run. Up to `N` runs are stored in place, without heap.
#[derive(PartialEq, Eq, Hash)]
pub struct Runs<V: Copy + Eq, const N: usize = 8> {
    segments: Few<Segment<V>, N>,
}

impl<V: Copy + Eq, const N: usize> Runs<V, N> {
    /// The map that holds `value` at each of the indices `0 .. len`.
    #[must_use]
    pub fn new(len: u32, value: V) -> Self {
        let mut runs = Self::default();
        runs.extend(len, value);
        runs
    }

    /// Adds `more` indices at the end, which hold `value`.
    ///
    /// # Panics
    ///
    /// When 32 bits do not count all indices.
    pub fn extend(&mut self, more: u32, value: V) {
        let end = self.len().checked_add(more).expect("indices are counted in 32 bits");
        match self.segments.last_mut() {
            Some(last) if last.value == value => last.end = end,
            _ if more > 0 => self.segments.push(Segment { end, value }),
            _ => {}
        }
    }

    /// How many indices the map has.
    #[must_use]
    pub fn len(&self) -> u32 {
        self.segments.last().map_or(0, |segment| segment.end)
    }

    /// Whether the map has no index at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// How many runs the map takes: its cost.
    #[must_use]
    pub fn segments(&self) -> usize {
        self.segments.len()
    }

    /// The value at `index`, or `None` past the end.
    #[must_use]
    pub fn get(&self, index: u32) -> Option<V> {
        self.segments.get(self.position(index)).map(|segment| segment.value)
    }

    /// Makes every index of `span` hold `value`.
    ///
    /// # Panics
    ///
    /// When `span` reaches past the end.
    pub fn set(&mut self, span: Span, value: V) {
        if span.len == 0 {
            return;
        }
        assert!(span.end() <= self.len(), "{span:?} reaches past {}", self.len());
        let mut low = self.position(span.start);
        let first = self.segments[low];
        let mut high = if span.end() <= first.end { low } else { self.position(span.end() - 1) };
        let last = self.segments[high];
        if low == high && first.value == value {
            return;
        }
        let mut new = Segment { end: span.end(), value };
        // What the first run keeps to the left; or, where the span starts on a boundary, a neighbour that it joins.
        let mut left = None;
        if self.start(low) < span.start {
            left = (first.value != value).then_some(Segment { end: span.start, ..first });
        } else if low > 0 && self.segments[low - 1].value == value {
            low -= 1;
        }
        // The same to the right.
        let mut right = None;
        if last.end > new.end {
            right = (last.value != value).then_some(last);
            new.end = if right.is_some() { new.end } else { last.end };
        } else if let Some(next) = self.segments.get(high + 1).filter(|next| next.value == value) {
            new.end = next.end;
            high += 1;
        }
        self.replace(low, high, left, new, right);
    }

    /// The runs inside `span`, clipped to it, in ascending order. What lies past the end of the map is left out.
    pub fn iter_in(&self, span: Span) -> impl Iterator<Item = (Span, V)> {
        let first = self.position(span.start);
        let mut start = span.start;
        self.segments[first..].iter().map_while(move |segment| {
            let end = segment.end.min(span.end());
            let piece = (start < end).then(|| (Span::new(start, end - start), segment.value));
            start = end;
            piece
        })
    }

    /// All runs, in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = (Span, V)> {
        self.iter_in(Span::new(0, self.len()))
    }

    /// Which segment holds `index`; the number of segments past the end.
    fn position(&self, index: u32) -> usize {
        // Most maps have a handful of runs, for which walking beats bisecting.
        if self.segments.len() <= 8 {
            self.segments.iter().position(|segment| index < segment.end).unwrap_or(self.segments.len())
        } else {
            self.segments.partition_point(|segment| segment.end <= index)
        }
    }

    /// Where a segment starts.
    fn start(&self, segment: usize) -> u32 {
        segment.checked_sub(1).map_or(0, |before| self.segments[before].end)
    }

    /// Puts one to three segments where the segments `low ..= high` are.
    fn replace(
        &mut self,
        low: usize,
        high: usize,
        left: Option<Segment<V>>,
        new: Segment<V>,
        right: Option<Segment<V>>,
    ) {
        let (before, after) = (usize::from(left.is_some()), usize::from(right.is_some()));
        let (old_end, new_end) = (high + 1, low + before + 1 + after);
        // One move of the tail, instead of one for each segment that comes or goes.
        let len = self.segments.len();
        for _ in old_end..new_end {
            self.segments.push(new);
        }
        self.segments.copy_within(old_end..len, new_end);
        self.segments.truncate(len + new_end - old_end);
        let place = &mut self.segments[low..new_end];
        place[before] = new;
        if let Some(left) = left {
            place[0] = left;
        }
        if let Some(right) = right {
            place[before + 1] = right;
        }
    }
}

impl<V: Copy + Eq, const N: usize> Default for Runs<V, N> {
    fn default() -> Self {
        Self { segments: Few::new() }
    }
}

impl<V: Copy + Eq, const N: usize> Clone for Runs<V, N> {
    fn clone(&self) -> Self {
        Self { segments: self.segments.clone() }
    }

    fn clone_from(&mut self, source: &Self) {
        self.segments.clone_from(&source.segments);
    }
}

impl<V: Copy + Eq + fmt::Debug, const N: usize> fmt::Debug for Runs<V, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter().map(|(span, value)| (span.start..span.end(), value))).finish()
    }
}
