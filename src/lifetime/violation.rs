//! What can be wrong, and how bad it is.

use super::life::{Label, Life, OpId};
use super::slot::{Place, Spans};
use serde::{Deserialize, Serialize};
use std::fmt;

/// How bad a violation is. A run may go on past a low rung to show that it leads to a higher one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// The precondition of a race: a slot is in the free list while somebody may still write or read it.
    Hazard,
    /// The slot has a new owner while the old access is live; the bytes have not moved yet.
    Race,
    /// Capacity is gone until restart.
    Leak,
    /// A request, a hold or a process stops.
    Liveness,
    /// The client is told something untrue about its own request.
    WrongAnswer,
    /// Bytes of one request were put in another's place.
    Corruption,
    /// Bytes that are not this request's were consumed, or sent away.
    Exposure,
}

/// As people say it: `wrong answer`.
impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Hazard => "hazard",
            Self::Race => "race",
            Self::Leak => "leak",
            Self::Liveness => "liveness",
            Self::WrongAnswer => "wrong answer",
            Self::Corruption => "corruption",
            Self::Exposure => "exposure",
        })
    }
}

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A slot is freed while an access to it is live.
    FreeInFlight,
    /// A slot with a live access is allocated to another life.
    ReuseInFlight,
    /// A landing (or a write) hits a slot that its life does not own any more.
    WriteAfterFree,
    /// A read takes bytes from a slot that its life does not own any more.
    ReadAfterFree,
    /// A read finds content of another life, or none.
    StaleRead,
    /// A read while a write is live on the slot.
    TornRead,
    /// A slot that nobody owns is freed.
    DoubleFree,
    /// A slot that another life owns is freed.
    ForeignFree,
    /// A slot that another life owns is allocated.
    DoubleAlloc,
    /// All work is done and a slot is not free.
    Leak,
    /// A rejected or failed request is answered as a success, its reason is weakened, or the tokens are another's.
    FalseSuccess,
    /// The reported prompt tokens differ from what was processed.
    WrongUsage,
    /// A request never ends though every fair step was taken.
    Stuck,
    /// Ranks of one group take different decisions on one request.
    Divergence,
    /// The engine's own assertion or missing-key path is hit.
    Crash,
}

impl Kind {
    /// Every kind, in the order of the table in the README.
    pub const ALL: [Self; 15] = [
        Self::FreeInFlight,
        Self::ReuseInFlight,
        Self::WriteAfterFree,
        Self::ReadAfterFree,
        Self::StaleRead,
        Self::TornRead,
        Self::DoubleFree,
        Self::ForeignFree,
        Self::DoubleAlloc,
        Self::Leak,
        Self::FalseSuccess,
        Self::WrongUsage,
        Self::Stuck,
        Self::Divergence,
        Self::Crash,
    ];

    /// How bad it is.
    #[must_use]
    pub const fn severity(self) -> Severity {
        match self {
            Self::FreeInFlight => Severity::Hazard,
            Self::ReuseInFlight => Severity::Race,
            Self::WriteAfterFree | Self::TornRead | Self::DoubleFree | Self::ForeignFree | Self::DoubleAlloc => {
                Severity::Corruption
            }
            Self::ReadAfterFree | Self::StaleRead => Severity::Exposure,
            Self::Leak => Severity::Leak,
            Self::FalseSuccess | Self::WrongUsage => Severity::WrongAnswer,
            Self::Stuck | Self::Divergence | Self::Crash => Severity::Liveness,
        }
    }

    /// The name that cases, findings and reports use: `free-in-flight`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::FreeInFlight => "free-in-flight",
            Self::ReuseInFlight => "reuse-in-flight",
            Self::WriteAfterFree => "write-after-free",
            Self::ReadAfterFree => "read-after-free",
            Self::StaleRead => "stale-read",
            Self::TornRead => "torn-read",
            Self::DoubleFree => "double-free",
            Self::ForeignFree => "foreign-free",
            Self::DoubleAlloc => "double-alloc",
            Self::Leak => "leak",
            Self::FalseSuccess => "false-success",
            Self::WrongUsage => "wrong-usage",
            Self::Stuck => "stuck",
            Self::Divergence => "divergence",
            Self::Crash => "crash",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One violation, with what a reader needs to see who raced with whom.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Violation {
    /// What is wrong.
    pub kind: Kind,
    /// Where; absent when no slot is concerned.
    pub place: Option<Place>,
    /// Which slots (not cells) of `place`, coalesced, in ascending order.
    pub slots: Spans,
    /// How many cells are concerned (for a stale read: how many tokens); 0 when no cell is.
    pub cells: u32,
    /// The life whose access, claim or end is wrong.
    pub life: Life,
    /// The other life: the slot's owner, or the one whose content was found.
    pub other: Option<Life>,
    /// The access that is concerned.
    pub op: Option<OpId>,
    /// The step that started it: posted the access, or gave the slot to `life`.
    pub started: Option<Label>,
    /// The step that took the slot away under a live access.
    pub released: Option<Label>,
    /// The step in which it broke.
    pub broke: Label,
}

impl Violation {
    /// A violation of which nothing but this is known.
    #[must_use]
    pub fn bare(kind: Kind, life: Life, broke: Label) -> Self {
        Self {
            kind,
            place: None,
            slots: Spans::new(),
            cells: 0,
            life,
            other: None,
            op: None,
            started: None,
            released: None,
            broke,
        }
    }
}
