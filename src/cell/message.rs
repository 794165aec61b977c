//! Messages and the channels that carry them (protocol section 5).

use super::room::RoomKey;
use crate::few::{Few, clone_by_field};
use crate::lifetime::{OpId, Slots, Verdict};

/// A request at a server's HTTP door.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Http {
    /// A new request.
    New(u8),
    /// `AbortReq`.
    Abort(u8),
}

/// Where a decode rank wants a request's pages.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct TransferInfo {
    /// The room.
    pub key: RoomKey,
    /// The decode rank that sent it.
    pub rank: u8,
    /// Destination pages. The message carries no token count and no generation.
    pub pages: Slots,
    /// Destination metadata row.
    pub row: Slots,
}

clone_by_field!(TransferInfo { key, rank, pages, row });

/// Decode to prefill.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ToPrefill {
    /// The handshake.
    Info(TransferInfo),
    /// ABORT.
    Abort {
        /// The room.
        key: RoomKey,
        /// The decode rank to acknowledge to.
        rank: u8,
        /// The generation that was armed; zero where the version has none.
        generation: u8,
    },
}

/// What a metadata row holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct RowContent {
    /// The room that wrote it; zero: not written yet.
    pub room: u16,
    /// The request whose first token it is.
    pub request: Option<u8>,
    /// How many prompt tokens prefill processed. On the wire only with the length check (#38704).
    pub covered: u32,
}

/// Prefill to decode.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ToDecode {
    /// KV_STATUS: the room is Success, or Failed with the reason that prefill knows.
    Status {
        /// The room.
        key: RoomKey,
        /// The prefill rank.
        rank: u8,
        /// `None`: Success.
        failure: Option<Verdict>,
    },
    /// ABORT_ACK.
    Ack {
        /// The room.
        key: RoomKey,
        /// The prefill rank.
        rank: u8,
        /// The generation of the ABORT that it answers.
        generation: u8,
    },
}

/// AUX_DATA: a metadata row as a message.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct AuxData {
    /// The room.
    pub key: RoomKey,
    /// The request, by which the oracle knows it.
    pub request: u8,
    /// The destination row.
    pub row: Slots,
    /// What to put there.
    pub content: RowContent,
    /// The access that the oracle knows it by.
    pub op: OpId,
}

clone_by_field!(AuxData { key, request, row, content, op });

/// A first-in-first-out queue.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Queue<T>(Few<T, 1>);

clone_by_field!(Queue <T: Clone> { 0 });

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Self(Few::new())
    }
}

impl<T> Queue<T> {
    /// Appends.
    pub fn push(&mut self, item: T) {
        self.0.push(item);
    }

    /// Takes the oldest.
    pub fn pop(&mut self) -> Option<T> {
        if self.0.is_empty() { None } else { Some(self.0.remove(0)) }
    }

    /// Looks at the oldest.
    #[must_use]
    pub fn first(&self) -> Option<&T> {
        self.0.first()
    }

    /// How many wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nothing waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes everything.
    pub fn take_all(&mut self) -> Self {
        std::mem::take(self)
    }

    /// Everything, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter()
    }
}

impl<T> IntoIterator for Queue<T> {
    type Item = T;
    type IntoIter = smallvec::IntoIter<[T; 1]>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}
