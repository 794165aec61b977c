//! Arithmetic of lists of runs.

use crate::lifetime::{Cells, Place, Span, Spans};

/// The slots of `place`, of `width` cells each, that `cells` lie in and that are among `within`: ascending, coalesced.
pub(super) fn overlap<'a>(cells: impl Iterator<Item = &'a Cells>, place: Place, width: u32, within: &[Span]) -> Spans {
    let mut slots = Spans::new();
    for run in cells.filter(|cells| cells.place == place).flat_map(|cells| &cells.runs) {
        let touched = run.slots(width);
        for common in within.iter().filter_map(|&within| within.intersection(touched)) {
            include(&mut slots, common);
        }
    }
    slots
}

/// Adds a run to an ascending, coalesced list of runs, and keeps it so.
pub(super) fn include(spans: &mut Spans, span: Span) {
    match spans.last_mut() {
        // Nearly always pieces come in ascending order.
        Some(last) if last.start <= span.start && span.start <= last.end() => {
            last.len = last.len.max(span.end() - last.start);
        }
        Some(last) if span.start < last.start => {
            spans.push(span);
            coalesce(spans);
        }
        _ => spans.push(span),
    }
}

/// Sorts runs and joins those that touch or overlap.
fn coalesce(spans: &mut Spans) {
    spans.sort_unstable();
    let mut kept = 0;
    for at in 1..spans.len() {
        let next = spans[at];
        if next.start <= spans[kept].end() {
            spans[kept].len = spans[kept].len.max(next.end() - spans[kept].start);
        } else {
            kept += 1;
            spans[kept] = next;
        }
    }
    spans.truncate(kept + 1);
}

/// The same cells in the same order, without empty runs, in as few runs as that takes.
pub(super) fn joined(cells: &Cells) -> Cells {
    let mut runs = Spans::new();
    for &run in cells.runs.iter().filter(|run| run.len > 0) {
        match runs.last_mut() {
            Some(last) if last.end() == run.start => last.len += run.len,
            _ => runs.push(run),
        }
    }
    Cells { place: cells.place, runs }
}

/// How many cells some runs hold.
///
/// # Panics
///
/// When that is more than 32 bits can count.
pub(super) fn count(runs: &[Span]) -> u32 {
    let sum = runs.iter().try_fold(0_u32, |sum, run| sum.checked_add(run.len));
    sum.expect("the cells of one access are counted in 32 bits")
}

/// The runs of the cells `part`, counted along `runs`.
pub(super) fn part_of(runs: &[Span], part: Span) -> impl Iterator<Item = Span> {
    let mut before = 0;
    runs.iter().filter_map(move |run| {
        let counted = Span::new(before, run.len);
        before += run.len;
        let piece = counted.intersection(part)?;
        Some(Span::new(run.start + (piece.start - counted.start), piece.len))
    })
}
