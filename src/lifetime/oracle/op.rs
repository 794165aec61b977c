//! Accesses in flight.

use super::spans::{count, joined, overlap};
use crate::few::clone_by_field;
use crate::lifetime::{Cells, Label, Life, OpId, Place, Runs, Span, Spans};

/// An access that was posted and has not settled: its bytes may still move.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct LiveOp {
    /// Its name.
    pub op: OpId,
    /// For which life.
    pub life: Life,
    /// Where bytes are read from; neighbouring runs are joined.
    pub source: Option<Cells>,
    /// Where bytes are written to; neighbouring runs are joined.
    pub target: Option<Cells>,
    /// The step that posted it.
    pub posted: Label,
    /// The first step that freed a slot from which it reads.
    pub source_released: Option<Label>,
    /// The first step that freed a slot to which it writes.
    pub target_released: Option<Label>,
    /// Which of its cells have landed at least once, counted along its runs.
    landed: Runs<bool, 2>,
}

clone_by_field!(LiveOp { op, life, source, target, posted, source_released, target_released, landed });

impl LiveOp {
    /// An access of which nothing has landed yet.
    pub(super) fn new(op: OpId, life: Life, source: Option<&Cells>, target: Option<&Cells>, posted: Label) -> Self {
        let (source, target) = (source.map(joined), target.map(joined));
        let [read, written] = [&source, &target].map(|side| side.as_ref().map(|cells| count(&cells.runs)));
        let landed = Runs::new(written.or(read).unwrap_or(0), false);
        Self { op, life, source, target, posted, source_released: None, target_released: None, landed }
    }

    /// How many cells it moves: those of its target or, when there is none, those of its source.
    #[must_use]
    pub fn cells(&self) -> u32 {
        self.landed.len()
    }

    /// Which of its cells have landed at least once, counted along its runs: ascending, coalesced.
    pub fn landed(&self) -> impl Iterator<Item = Span> {
        self.landed.iter().filter_map(|(span, landed)| landed.then_some(span))
    }

    /// Remembers that a part has landed. Answers what of that part the access has.
    pub(super) fn land(&mut self, part: Span) -> Option<Span> {
        let part = Span::new(part.start, part.len.min(u32::MAX - part.start));
        let part = part.intersection(Span::new(0, self.cells()))?;
        self.landed.set(part, true);
        Some(part)
    }

    /// The first step that freed a slot of `place` under it.
    #[must_use]
    pub fn released(&self, place: Place) -> Option<Label> {
        let writes = self.target.as_ref().is_some_and(|target| target.place == place && !target.runs.is_empty());
        if writes { self.target_released } else { self.source_released }
    }

    /// Remembers the first step that freed slots under it, on each side, and answers which of `freed` it touches.
    pub(super) fn lose(&mut self, label: Label, place: Place, width: u32, freed: &[Span]) -> Spans {
        for (side, released) in [(&self.source, &mut self.source_released), (&self.target, &mut self.target_released)] {
            if !overlap(side.iter(), place, width, freed).is_empty() {
                released.get_or_insert(label);
            }
        }
        self.touched(place, width, freed)
    }

    /// The slots of `place`, of `width` cells each, that it reads or writes and that are among `within`.
    pub(super) fn touched(&self, place: Place, width: u32, within: &[Span]) -> Spans {
        overlap(self.source.iter().chain(&self.target), place, width, within)
    }

    /// The slots of `place`, of `width` cells each, that it writes and that are among `within`.
    pub(super) fn written(&self, place: Place, width: u32, within: &[Span]) -> Spans {
        overlap(self.target.iter(), place, width, within)
    }
}
