//! Lists of pages as runs. Order is kept where it means something.

use crate::lifetime::{Span, Spans};

/// Appends a page to an ordered list of runs.
pub(super) fn push_page(runs: &mut Spans, page: u32) {
    match runs.last_mut() {
        Some(last) if last.end() == page => last.len += 1,
        _ => runs.push(Span::new(page, 1)),
    }
}

/// The runs of some pages, in their order.
pub(super) fn as_runs(pages: impl IntoIterator<Item = u32>) -> Spans {
    let mut runs = Spans::new();
    pages.into_iter().for_each(|page| push_page(&mut runs, page));
    runs
}

/// The pages one by one.
pub(super) fn each(runs: &[Span]) -> impl Iterator<Item = u32> {
    runs.iter().flat_map(|run| run.start..run.end())
}

/// How many pages, or cells, some runs hold.
pub(super) fn size(runs: &[Span]) -> u32 {
    runs.iter().fold(0, |sum, run| sum.saturating_add(run.len))
}

/// A list of pages that can be asked quickly.
#[derive(Debug)]
pub(super) struct PageSet(Spans);

impl PageSet {
    pub(super) fn new(runs: &[Span]) -> Self {
        let mut sorted: Spans = runs.into();
        sorted.sort_unstable();
        Self(sorted)
    }

    pub(super) fn contains(&self, page: u32) -> bool {
        let behind = self.0.partition_point(|run| run.start <= page);
        behind.checked_sub(1).is_some_and(|at| page < self.0[at].end())
    }
}

/// The pages of `ordered` that are also in `other`, in the order of `ordered`.
pub(super) fn common(ordered: &[Span], other: &[Span]) -> Spans {
    let other = PageSet::new(other);
    as_runs(each(ordered).filter(|&page| other.contains(page)))
}

/// The pages of `ordered` that are not in `other`, in the order of `ordered`.
pub(super) fn without(ordered: &[Span], other: &[Span]) -> Spans {
    let other = PageSet::new(other);
    as_runs(each(ordered).filter(|&page| !other.contains(page)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_that_of_the_first_list() {
        let ordered = as_runs([7, 8, 3, 4, 5]);
        assert_eq!(ordered.as_slice(), [Span::new(7, 2), Span::new(3, 3)]);
        assert_eq!(each(&common(&ordered, &as_runs([4, 3, 8]))).collect::<Vec<_>>(), [8, 3, 4]);
        assert_eq!(each(&without(&ordered, &as_runs([4, 3, 8]))).collect::<Vec<_>>(), [7, 5]);
        assert_eq!(size(&ordered), 5);
    }
}
