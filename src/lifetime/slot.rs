//! Where something lives: nodes, arenas, slots, and runs of them.

use crate::few::{Few, clone_by_field};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::hash::{Hash, Hasher};

/// One process that owns memory: a prefill rank or a decode rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Node(pub u8);

/// What kind of slot an index counts. Sidecars are arenas too: small indices are recycled as pages are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arena {
    /// A page of the KV cache; as many cells as the page has tokens.
    KvPage,
    /// A row of the metadata (aux) buffers: first token, room, checksum.
    MetadataRow,
    /// A row of the request-to-token table.
    RequestRow,
    /// A region of a staging ring.
    StagingRegion,
    /// A page of the host tier.
    HostPage,
}

impl fmt::Display for Arena {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::KvPage => "page",
            Self::MetadataRow => "metadata row",
            Self::RequestRow => "request row",
            Self::StagingRegion => "staging region",
            Self::HostPage => "host page",
        })
    }
}

/// An arena on a node: the space that slot indices are relative to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Place {
    /// The process that owns the memory.
    pub node: Node,
    /// The kind of slot.
    pub arena: Arena,
}

/// In one write: a search hashes little else than small structures like this one.
impl Hash for Place {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u16(u16::from_le_bytes([self.node.0, self.arena as u8]));
    }
}

/// A half-open run `start .. start + len` of slots or of cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Span {
    /// The first index.
    pub start: u32,
    /// How many; a span in use is never empty.
    pub len: u32,
}

impl Span {
    /// The run `start .. start + len`.
    #[must_use]
    pub const fn new(start: u32, len: u32) -> Self {
        Self { start, len }
    }

    /// One past the last index.
    #[must_use]
    pub const fn end(self) -> u32 {
        self.start + self.len
    }

    /// The slots, of `width` cells each, that these cells lie in; the span is not empty.
    #[must_use]
    pub const fn slots(self, width: u32) -> Self {
        let start = self.start / width;
        Self::new(start, (self.end() - 1) / width + 1 - start)
    }

    /// The part that both spans hold, if any.
    #[must_use]
    pub fn intersection(self, other: Self) -> Option<Self> {
        let start = self.start.max(other.start);
        let end = self.end().min(other.end());
        (start < end).then(|| Self::new(start, end - start))
    }
}

impl Hash for Span {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(u64::from(self.start) << 32 | u64::from(self.len));
    }
}

/// An ordered list of runs. Order carries meaning: the n-th cell of a request is the n-th cell of its runs.
///
/// Extents instead of single indices keep a pool of 681,280 tokens as cheap as one of eight pages.
pub type Spans = Few<Span, 2>;

/// Runs of *slots* (pages, rows) of one arena: what is allocated and freed.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slots {
    /// Where the slots are.
    pub place: Place,
    /// Which slots.
    pub runs: Spans,
}

clone_by_field!(Slots { place, runs });

/// Each run is hashed by one `write_u128` of a [`RunWord`]: nothing else in this crate calls that method, so a hasher
/// that renames slots can tell slots from numbers.
impl Hash for Slots {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_usize(self.runs.len());
        for &run in &self.runs {
            state.write_u128(RunWord { place: self.place, run }.into());
        }
    }
}

/// A run of slots in one word, for hashers that rename slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunWord {
    /// Where the run is.
    pub place: Place,
    /// The run.
    pub run: Span,
}

impl From<RunWord> for u128 {
    fn from(word: RunWord) -> Self {
        let place = Self::from(word.place.node.0) << 8 | Self::from(word.place.arena as u8);
        place << 64 | Self::from(word.run.start) << 32 | Self::from(word.run.len)
    }
}

impl RunWord {
    /// The run that `word` was made of, if it is one of KV pages.
    #[must_use]
    pub fn kv_pages(word: u128) -> Option<Self> {
        let place = (word >> 64) as u16;
        let arena = Arena::KvPage;
        let place = (place as u8 == arena as u8).then_some(Place { node: Node((place >> 8) as u8), arena })?;
        Some(Self { place, run: Span::new((word >> 32) as u32, word as u32) })
    }
}

/// Runs of *cells* (tokens of a page; a whole row elsewhere) of one arena: what is read and written.
#[derive(Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Cells {
    /// Where the cells are.
    pub place: Place,
    /// Which cells, in the order in which a transfer fills them.
    pub runs: Spans,
}

clone_by_field!(Cells { place, runs });
