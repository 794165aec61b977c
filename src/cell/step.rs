//! Steps: what a script is made of.

use super::scope::Scope;
use super::world::Lane;
use serde::{Deserialize, Serialize};
use std::fmt;

/// One step of one actor. A step that is not enabled does nothing, so that any list of steps is a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// The next request is sent.
    Submit,
    /// The client of a request aborts it on both servers.
    Abort(u8),
    /// The client of a request goes away.
    Disconnect(u8),
    /// An iteration of the prefill scheduler.
    Prefill,
    /// The GPU of prefill ends its oldest forward (overlapped loop only).
    ForwardEnds,
    /// A transfer worker of a prefill rank.
    Worker(u8),
    /// An iteration of the decode scheduler.
    Decode,
    /// The oldest message of a lane is handled.
    Deliver(Lane),
    /// The oldest message of a lane is lost.
    Lose(Lane),
    /// A piece of a posted write arrives.
    Land {
        /// Which write.
        op: u8,
        /// Which piece.
        piece: u8,
    },
    /// A posted write fails; its siblings go on.
    TransferError(u8),
    /// The initiator of a posted write is told of a timeout; the write goes on.
    TransferTimeout(u8),
    /// Prefill dies.
    KillPrefill,
    /// A new prefill process takes the dead one's place.
    ReplacePrefill,
    /// Decode's heartbeat fails for the second time.
    Heartbeat,
    /// A unit of time passes on every running timer.
    Elapse,
}

impl Step {
    /// Names of the step families, by [`family`](Self::family).
    pub const FAMILIES: [&'static str; 16] = [
        "submit",
        "abort",
        "disconnect",
        "prefill",
        "forward-ends",
        "worker",
        "decode",
        "deliver",
        "lose",
        "land",
        "transfer-error",
        "transfer-timeout",
        "kill-prefill",
        "replace-prefill",
        "heartbeat",
        "elapse",
    ];

    /// Whether something or somebody fails in it, a client included.
    #[must_use]
    pub const fn is_fault(self) -> bool {
        matches!(
            self,
            Self::Abort(_)
                | Self::Disconnect(_)
                | Self::Lose(_)
                | Self::TransferError(_)
                | Self::TransferTimeout(_)
                | Self::KillPrefill
                | Self::ReplacePrefill
        )
    }

    /// The number of the step's family.
    #[must_use]
    pub const fn family(self) -> u8 {
        match self {
            Self::Submit => 0,
            Self::Abort(_) => 1,
            Self::Disconnect(_) => 2,
            Self::Prefill => 3,
            Self::ForwardEnds => 4,
            Self::Worker(_) => 5,
            Self::Decode => 6,
            Self::Deliver(_) => 7,
            Self::Lose(_) => 8,
            Self::Land { .. } => 9,
            Self::TransferError(_) => 10,
            Self::TransferTimeout(_) => 11,
            Self::KillPrefill => 12,
            Self::ReplacePrefill => 13,
            Self::Heartbeat => 14,
            Self::Elapse => 15,
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::FAMILIES[usize::from(self.family())];
        match self {
            Self::Abort(request) | Self::Disconnect(request) => {
                write!(f, "{name} {}", crate::lifetime::Life::first(u32::from(*request)))
            }
            Self::Worker(rank) => write!(f, "{name} of rank {rank}"),
            Self::Deliver(lane) | Self::Lose(lane) => write!(f, "{name} {lane}"),
            Self::Land { op, piece } => write!(f, "{name} write {op}, piece {piece}"),
            Self::TransferError(op) | Self::TransferTimeout(op) => write!(f, "{name} of write {op}"),
            _ => f.write_str(name),
        }
    }
}

impl fmt::Display for Lane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ToPrefill { from, to } => write!(f, "decode {from} to prefill {to}"),
            Self::ToDecode { from, to } => write!(f, "prefill {from} to decode {to}"),
            Self::Aux { from, to } => write!(f, "prefill {from} to decode {to}, metadata"),
        }
    }
}

/// Every lane of a scope, in a fixed order.
pub(super) fn lanes(scope: &Scope) -> impl Iterator<Item = Lane> + use<> {
    let (prefill, decode, aux) = (scope.prefill_ranks, scope.decode_ranks, scope.aux_by_message);
    (0..prefill).flat_map(move |p| (0..decode).map(move |d| (p, d))).flat_map(move |(p, d)| {
        let control = [Lane::ToPrefill { from: d, to: p }, Lane::ToDecode { from: p, to: d }];
        control.into_iter().chain(aux.then_some(Lane::Aux { from: p, to: d }))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_begins_with_the_name_of_its_family() {
        let lane = Lane::ToPrefill { from: 0, to: 0 };
        let each = [
            (Step::Submit, "submit"),
            (Step::Abort(0), "abort"),
            (Step::Disconnect(0), "disconnect"),
            (Step::Prefill, "prefill"),
            (Step::ForwardEnds, "forward-ends"),
            (Step::Worker(0), "worker"),
            (Step::Decode, "decode"),
            (Step::Deliver(lane), "deliver"),
            (Step::Lose(lane), "lose"),
            (Step::Land { op: 0, piece: 0 }, "land"),
            (Step::TransferError(0), "transfer-error"),
            (Step::TransferTimeout(0), "transfer-timeout"),
            (Step::KillPrefill, "kill-prefill"),
            (Step::ReplacePrefill, "replace-prefill"),
            (Step::Heartbeat, "heartbeat"),
            (Step::Elapse, "elapse"),
        ];
        assert_eq!(each.len(), Step::FAMILIES.len());
        for (number, (step, name)) in each.into_iter().enumerate() {
            assert_eq!(usize::from(step.family()), number);
            assert_eq!(Step::FAMILIES[number], name);
            assert!(step.to_string().starts_with(name), "{step}");
        }
    }
}
