//! The vocabulary: everything that the oracle is ever told.

use super::life::{Life, OpId};
use super::slot::{Cells, Node, Slots, Span};
use serde::{Deserialize, Serialize};

/// How a request ended, or how one side decided that it should end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// HTTP 200 with tokens.
    Success,
    /// The request itself was refused (HTTP 4xx).
    Rejected,
    /// The client gave up; nothing is owed.
    Aborted,
    /// The service failed (HTTP 5xx).
    Failed,
}

/// What the client was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Answer {
    /// How the answer ended.
    pub verdict: Verdict,
    /// The `usage.prompt_tokens` of the answer, in tokens.
    pub prompt_tokens: u32,
    /// Whose tokens the answer holds, where that is known.
    pub tokens_of: Option<Life>,
}

/// One fact. Eight of these are the vocabulary of slots; `Begin`, `Decide` and `Crash` say what no slot shows: that a
/// request exists (without it nothing is ever stuck), what a rank decided (divergence, a weakened reason), that a
/// process died of its own assertion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A request enters the service and must end.
    Begin {
        /// The new life.
        life: Life,
    },
    /// Slots are given to a life.
    Alloc {
        /// The new owner.
        life: Life,
        /// What it owns from now on.
        slots: Slots,
    },
    /// Slots return to the free list.
    Free {
        /// On whose behalf.
        life: Life,
        /// What nobody owns from now on.
        slots: Slots,
    },
    /// The owner writes, synchronously.
    Write {
        /// The writer.
        life: Life,
        /// What it wrote.
        cells: Cells,
    },
    /// An asynchronous access starts. It can't be recalled.
    Post {
        /// Its name until it settles.
        op: OpId,
        /// For which life.
        life: Life,
        /// Where bytes are read from; absent when they come from outside (a forward pass, an unknown peer).
        source: Option<Cells>,
        /// Where bytes are written to; absent for a read whose bytes leave the model.
        target: Option<Cells>,
    },
    /// Bytes arrive: the cells `part` of the access, counted along its runs. May come after the initiator was told of
    /// a failure, and more than once.
    Land {
        /// Which access.
        op: OpId,
        /// Which of its cells, counted from its first.
        part: Span,
    },
    /// No more access can come.
    Settle {
        /// Which access.
        op: OpId,
    },
    /// Somebody consumes cells and expects its own life's content in each.
    Read {
        /// The reader.
        life: Life,
        /// What it reads.
        cells: Cells,
    },
    /// A rank decides how a request ends. Ranks of one group must decide alike; the first `Rejected` is what the
    /// client is owed.
    Decide {
        /// About whom.
        life: Life,
        /// Which group of ranks takes this decision together.
        group: u8,
        /// Which rank of it.
        rank: u8,
        /// What it decided.
        verdict: Verdict,
    },
    /// The client is told.
    Finish {
        /// Who ended.
        life: Life,
        /// What the client was told.
        told: Answer,
        /// How many prompt tokens the service really processed for this life, where that is known.
        processed: Option<u32>,
    },
    /// A process died of its own assertion or of a missing key.
    Crash {
        /// Which process.
        node: Node,
        /// On whose behalf it was working.
        life: Life,
    },
}

impl Event {
    /// Whose event it is; nothing where only the access is named.
    #[must_use]
    pub const fn life(&self) -> Option<Life> {
        match *self {
            Self::Begin { life }
            | Self::Alloc { life, .. }
            | Self::Free { life, .. }
            | Self::Write { life, .. }
            | Self::Post { life, .. }
            | Self::Read { life, .. }
            | Self::Decide { life, .. }
            | Self::Finish { life, .. }
            | Self::Crash { life, .. } => Some(life),
            Self::Land { .. } | Self::Settle { .. } => None,
        }
    }

    /// Which posted access it is about.
    #[must_use]
    pub const fn op(&self) -> Option<OpId> {
        match *self {
            Self::Post { op, .. } | Self::Land { op, .. } | Self::Settle { op } => Some(op),
            _ => None,
        }
    }
}
