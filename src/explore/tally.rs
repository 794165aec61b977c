//! Findings while a run collects them.

use super::signature::Signature;
use crate::lifetime::{Severity, Violation};
use rustc_hash::FxHashMap;

/// What is kept of one signature: how often it was met, and the best witness so far.
#[derive(Clone, Debug)]
pub(super) struct Entry<W> {
    pub(super) signature: Signature,
    pub(super) violation: Violation,
    pub(super) count: u64,
    /// How long the witness is. A shorter one replaces it; of two equally long ones, the first stays.
    rank: usize,
    pub(super) witness: W,
}

/// Signatures in the order in which they were first met.
#[derive(Clone, Debug)]
pub(super) struct Tally<W> {
    index: FxHashMap<Signature, usize>,
    entries: Vec<Entry<W>>,
}

impl<W> Default for Tally<W> {
    fn default() -> Self {
        Self { index: FxHashMap::default(), entries: Vec::new() }
    }
}

impl<W> Tally<W> {
    /// Counts a violation; `witness` is only asked for when it is kept.
    pub(super) fn record(&mut self, violation: &Violation, rank: usize, witness: impl FnOnce() -> W) {
        let signature = Signature::from(violation);
        if let Some(&at) = self.index.get(&signature) {
            let entry = &mut self.entries[at];
            entry.count += 1;
            if rank < entry.rank {
                *entry = Entry { violation: violation.clone(), rank, witness: witness(), ..*entry };
            }
        } else {
            self.insert(Entry { signature, violation: violation.clone(), count: 1, rank, witness: witness() });
        }
    }

    /// Adds what a later part of the run met, and empties it.
    pub(super) fn absorb(&mut self, later: &mut Self) {
        later.index.clear();
        for entry in later.entries.drain(..) {
            if let Some(&at) = self.index.get(&entry.signature) {
                let mine = &mut self.entries[at];
                let count = mine.count + entry.count;
                if entry.rank < mine.rank {
                    *mine = entry;
                }
                mine.count = count;
            } else {
                self.insert(entry);
            }
        }
    }

    fn insert(&mut self, entry: Entry<W>) {
        self.index.insert(entry.signature, self.entries.len());
        self.entries.push(entry);
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether something at least this severe was met.
    pub(super) fn reaches(&self, severity: Severity) -> bool {
        self.entries.iter().any(|entry| entry.signature.kind.severity() >= severity)
    }

    pub(super) fn into_entries(self) -> Vec<Entry<W>> {
        self.entries
    }
}

/// Whether one of the violations is where a path ends.
pub(super) fn ends_path(violations: &[Violation], stop_at: Option<Severity>) -> bool {
    stop_at.is_some_and(|rung| violations.iter().any(|violation| violation.kind.severity() >= rung))
}
