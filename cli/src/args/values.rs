//! Words that stand for something.

use clap::ValueEnum;
use pagefence::explore::Explorer;
use pagefence::lifetime::Severity;
use serde::Serialize;

/// An explorer by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Who {
    /// Breadth-first search of every state, with symmetry.
    Exhaustive,
    /// Random walks, each with its own mix of faults.
    Swarm,
    /// Random walks that choose alike.
    Uniform,
}

impl From<Who> for Explorer {
    fn from(who: Who) -> Self {
        match who {
            Who::Exhaustive => Self::Exhaustive,
            Who::Swarm => Self::Swarm,
            Who::Uniform => Self::Uniform,
        }
    }
}

/// A severity by name, the least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rung {
    /// A slot is free while somebody may still access it.
    Hazard,
    /// The slot has a new owner while the old access is live.
    Race,
    /// Capacity is gone.
    Leak,
    /// Something stops for good.
    Liveness,
    /// The client is told something untrue.
    WrongAnswer,
    /// Bytes of one request are in another's place.
    Corruption,
    /// Bytes of another request are consumed.
    Exposure,
}

impl From<Rung> for Severity {
    fn from(rung: Rung) -> Self {
        match rung {
            Rung::Hazard => Self::Hazard,
            Rung::Race => Self::Race,
            Rung::Leak => Self::Leak,
            Rung::Liveness => Self::Liveness,
            Rung::WrongAnswer => Self::WrongAnswer,
            Rung::Corruption => Self::Corruption,
            Rung::Exposure => Self::Exposure,
        }
    }
}
