//! Allocators of pages and rows: a free list in the order in which it will be used.

use crate::few::clone_by_field;
use crate::lifetime::{Place, Slots, Span, Spans};

/// A pool of slots. Its free list is a list of runs in order of use; neighbours that follow each other are one run, so
/// that equal pools are equal values.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Pool {
    free: Slots,
    count: u32,
}

clone_by_field!(Pool { free, count });

impl Pool {
    /// A pool of the slots `0 .. size` of `place`, all free.
    #[must_use]
    pub fn new(place: Place, size: u32) -> Self {
        Self { free: Slots { place, runs: Spans::from_slice(&[Span::new(0, size)]) }, count: size }
    }

    /// How many slots are free.
    #[must_use]
    pub const fn available(&self) -> u32 {
        self.count
    }

    /// The free slots in order of use.
    #[cfg(test)]
    pub const fn free(&self) -> &Slots {
        &self.free
    }

    /// Takes `count` slots from the head of the free list; `None` when there are too few.
    pub fn take(&mut self, count: u32) -> Option<Slots> {
        if count > self.count {
            return None;
        }
        let mut taken = Slots { place: self.free.place, runs: Spans::new() };
        let mut missing = count;
        while missing > 0 {
            let head = self.free.runs[0];
            let part = head.len.min(missing);
            push_back(&mut taken.runs, Span::new(head.start, part));
            if part == head.len {
                self.free.runs.remove(0);
            } else {
                self.free.runs[0] = Span::new(head.start + part, head.len - part);
            }
            missing -= part;
        }
        self.count -= count;
        Some(taken)
    }

    /// Gives slots back: to the tail (`fifo`), or to the head so that they are used next.
    pub fn give(&mut self, slots: &Slots, fifo: bool) {
        debug_assert_eq!(slots.place, self.free.place, "slots return to the pool that they came from");
        if fifo {
            for &run in &slots.runs {
                push_back(&mut self.free.runs, run);
            }
        } else {
            for &run in slots.runs.iter().rev() {
                push_front(&mut self.free.runs, run);
            }
        }
        self.count += count(slots);
    }
}

/// How many slots these are.
#[must_use]
pub fn count(slots: &Slots) -> u32 {
    slots.runs.iter().map(|run| run.len).sum()
}

/// Appends `run`, joined to the last run where it follows that.
pub fn push_back(runs: &mut Spans, run: Span) {
    match runs.last_mut() {
        Some(last) if last.end() == run.start => last.len += run.len,
        _ => runs.push(run),
    }
}

fn push_front(runs: &mut Spans, run: Span) {
    match runs.first_mut() {
        Some(first) if run.end() == first.start => *first = Span::new(run.start, run.len + first.len),
        _ => runs.insert(0, run),
    }
}

/// The runs of `runs` that hold its elements `offset .. offset + len`, counted along the list; what lies past its end
/// is left out.
#[must_use]
pub fn part(runs: &Spans, offset: u32, len: u32) -> Spans {
    let mut found = Spans::new();
    let (mut skip, mut missing) = (offset, len);
    for run in runs {
        if skip >= run.len {
            skip -= run.len;
            continue;
        }
        if missing == 0 {
            break;
        }
        let here = (run.len - skip).min(missing);
        push_back(&mut found, Span::new(run.start + skip, here));
        skip = 0;
        missing -= here;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lifetime::{Arena, Node};

    fn pool(size: u32) -> Pool {
        Pool::new(Place { node: Node(0), arena: Arena::KvPage }, size)
    }

    fn runs(slots: &Slots) -> Vec<(u32, u32)> {
        slots.runs.iter().map(|run| (run.start, run.len)).collect()
    }

    #[test]
    fn takes_from_the_head_until_empty() {
        let mut pool = pool(4);
        assert_eq!(runs(&pool.take(3).unwrap()), [(0, 3)]);
        assert_eq!(pool.take(2), None);
        assert_eq!(pool.available(), 1);
        assert_eq!(runs(&pool.take(1).unwrap()), [(3, 1)]);
        assert_eq!(pool.available(), 0);
    }

    #[test]
    fn first_in_first_out_uses_freed_slots_last() {
        let mut pool = pool(3);
        let first = pool.take(1).unwrap();
        pool.give(&first, true);
        assert_eq!(runs(&pool.take(3).unwrap()), [(1, 2), (0, 1)]);
    }

    #[test]
    fn last_in_first_out_uses_freed_slots_next() {
        let mut pool = pool(3);
        let first = pool.take(2).unwrap();
        let _second = pool.take(1).unwrap();
        pool.give(&first, false);
        assert_eq!(runs(&pool.take(1).unwrap()), [(0, 1)]);
    }

    #[test]
    fn equal_free_lists_are_equal_values() {
        let mut one = pool(4);
        let all = one.take(4).unwrap();
        one.give(&all, true);
        assert_eq!(one, pool(4));
        let mut two = pool(4);
        let (a, b) = (two.take(2).unwrap(), two.take(2).unwrap());
        two.give(&a, true);
        two.give(&b, true);
        assert_eq!(two, pool(4));
    }

    #[test]
    fn what_goes_back_to_the_head_is_joined_to_it_only_where_it_comes_just_before() {
        let mut joined = pool(4);
        let (a, b) = (joined.take(1).unwrap(), joined.take(3).unwrap());
        joined.give(&b, false);
        joined.give(&a, false);
        assert_eq!(joined, pool(4));
        let mut apart = pool(4);
        let each = [(); 4].map(|()| apart.take(1).unwrap());
        apart.give(&each[3], false);
        apart.give(&each[0], false);
        assert_eq!(runs(&apart.take(2).unwrap()), [(0, 1), (3, 1)]);
    }

    #[test]
    fn a_part_counts_along_the_runs_and_stops_at_their_end() {
        let list = Spans::from_slice(&[Span::new(10, 2), Span::new(3, 3)]);
        assert_eq!(part(&list, 1, 3).as_slice(), [Span::new(11, 1), Span::new(3, 2)]);
        assert_eq!(part(&list, 4, 9).as_slice(), [Span::new(5, 1)]);
        assert_eq!(part(&list, 5, 1).as_slice(), []);
    }
}
