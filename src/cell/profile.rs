//! Profiles: a released version, or a design, as the set of its switches.

use super::nearest::nearest;
use super::switch::{Switch, Switches, UnknownSwitch};
use serde::{Deserialize, Serialize};

use Switch::{
    AbortMessage, AbortReachesTable, AckSet, ArmedBeforeSend, AuxValidated, BatchBound, ClearForgetsInfos,
    DeferAllFailures, DeferByDefault, Door, EarlySend, EarlySendWaits, FifoReuse, Generation, JoinSiblings,
    KeepAckTargetOnClear, LengthCheck, LockedTables, MessageEpoch, MetadataGate, MetadataRoomCheck, NoResurrection,
    NotifyAllEndpoints, NotifyPeer, Poison, PoisonRecovers, PreallocPolled, PreallocTimeout, PrefillAbortAfterForward,
    RegisterWhenCleared, RetryAfterSettle, RoomReset, SkipAcks, SourceHold, StickyFailed, StickyReason, TimeoutHolds,
    TpAgreement, WaitingPolled, WorkerChecksRoom,
};

const V0_5_11: Switches = Switches::of(&[MetadataRoomCheck, FifoReuse]);
const V0_5_20: Switches = V0_5_11.and(&[
    PrefillAbortAfterForward,
    AbortMessage,
    StickyFailed,
    NoResurrection,
    MetadataGate,
    NotifyAllEndpoints,
    EarlySend,
    AbortReachesTable,
    AckSet,
    SkipAcks,
    ClearForgetsInfos,
    WaitingPolled,
    WorkerChecksRoom,
    PreallocPolled,
]);
const V0_5_21: Switches = V0_5_20.and(&[
    Door,
    ArmedBeforeSend,
    DeferByDefault,
    DeferAllFailures,
    KeepAckTargetOnClear,
    JoinSiblings,
    RegisterWhenCleared,
]);
const V0_5_22: Switches = V0_5_21.and(&[Generation, Poison, EarlySendWaits, RoomReset]);
const V0_5_23: Switches = V0_5_22.and(&[TpAgreement]);
const REFERENCE: Switches = V0_5_23.and(&[
    BatchBound,
    LengthCheck,
    SourceHold,
    TimeoutHolds,
    PoisonRecovers,
    StickyReason,
    NotifyPeer,
    PreallocTimeout,
    MessageEpoch,
    RetryAfterSettle,
    AuxValidated,
    LockedTables,
]);

/// The shipped profiles, oldest first.
const PRESETS: [(&str, Switches, &str); 6] = [
    ("sglang-0.5.11", V0_5_11, "no protection: the version family of the incident"),
    ("sglang-0.5.20", V0_5_20, "aborts are told to prefill; deferred release exists but is off by default"),
    ("sglang-0.5.21", V0_5_21, "doors on both queues; deferred release on by default"),
    ("sglang-0.5.22", V0_5_22, "generations and poison"),
    ("sglang-0.5.23", V0_5_23, "ranks agree on holding and releasing"),
    ("reference", REFERENCE, "the strictest design in the public record"),
];

/// A named set of switches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// What it is called; a changed preset carries its changes: `sglang-0.5.22 metadata_gate=off`.
    pub name: String,
    /// What is on.
    pub switches: Switches,
}

/// Why a profile cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// There is no such preset.
    #[error("unknown profile `{name}`; did you mean `{nearest}`?")]
    Unknown {
        /// What was asked for.
        name: String,
        /// The nearest preset.
        nearest: &'static str,
    },
    /// A setting names no switch.
    #[error(transparent)]
    Switch(#[from] UnknownSwitch),
    /// A setting is not `switch=on` or `switch=off`.
    #[error("`{0}` is not a setting: write SWITCH=on or SWITCH=off")]
    Setting(String),
}

impl Profile {
    /// The shipped profiles with a line about each, oldest version first, `reference` last.
    pub fn presets() -> impl Iterator<Item = (Self, &'static str)> {
        PRESETS.iter().map(|(name, switches, about)| (Self { name: (*name).to_owned(), switches: *switches }, *about))
    }

    /// The shipped profile called `name`.
    ///
    /// # Errors
    /// When there is none; the error names the nearest.
    pub fn preset(name: &str) -> Result<Self, ProfileError> {
        Self::presets().map(|(profile, _)| profile).find(|profile| profile.name == name).ok_or_else(|| {
            ProfileError::Unknown {
                name: name.to_owned(),
                nearest: nearest(name, PRESETS.iter().map(|preset| preset.0)).unwrap_or_default(),
            }
        })
    }

    /// The strictest design in the record.
    #[must_use]
    pub fn reference() -> Self {
        Self { name: "reference".to_owned(), switches: REFERENCE }
    }

    /// This profile with `switch` set; the name says so.
    #[must_use]
    pub fn with(&self, switch: Switch, on: bool) -> Self {
        if self.switches.on(switch) == on {
            return self.clone();
        }
        let state = if on { "on" } else { "off" };
        Self { name: format!("{} {switch}={state}", self.name), switches: self.switches.with(switch, on) }
    }

    /// This profile with a command-line setting applied: `metadata_gate=off`.
    ///
    /// # Errors
    /// When `setting` has another form or names no switch.
    pub fn set(&self, setting: &str) -> Result<Self, ProfileError> {
        let (name, state) = setting.split_once('=').ok_or_else(|| ProfileError::Setting(setting.to_owned()))?;
        let on = match state.trim() {
            "on" | "true" => true,
            "off" | "false" => false,
            _ => return Err(ProfileError::Setting(setting.to_owned())),
        };
        Ok(self.with(name.trim().parse()?, on))
    }
}
