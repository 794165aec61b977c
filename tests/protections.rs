//! Each protection of the reference, switched off alone, shows a finding in a shipped scope; those of which that is not
//! so are named here, with what stands in front of them or the reason.

use pagefence::cell::{Config, Profile, Step, Switch};
use pagefence::explore::{Budget, Exhaustive, ExhaustiveOptions, Serving, Signature, exhaustive};
use pagefence::library;
use pagefence::lifetime::{Kind, Severity};
use std::collections::HashSet;

/// The protection, the scope that needs it, and the kind that shows there.
const NEEDED: &[(Switch, &str, Kind)] = &[
    (Switch::Door, "decode-rejection", Kind::FalseSuccess),
    (Switch::PrefillAbortAfterForward, "late-rejection", Kind::FalseSuccess),
    (Switch::AbortMessage, "late-abort", Kind::FreeInFlight),
    (Switch::ArmedBeforeSend, "late-abort", Kind::Stuck),
    (Switch::DeferByDefault, "late-abort", Kind::FreeInFlight),
    (Switch::DeferAllFailures, "stall", Kind::FreeInFlight),
    (Switch::KeepAckTargetOnClear, "decode-rejection", Kind::Stuck),
    (Switch::Poison, "stall", Kind::FreeInFlight),
    (Switch::TpAgreement, "fan-out", Kind::Divergence),
    (Switch::EarlySendWaits, "overlap", Kind::StaleRead),
    (Switch::SkipAcks, "late-abort", Kind::Stuck),
    (Switch::SourceHold, "late-abort", Kind::FreeInFlight),
    (Switch::TimeoutHolds, "late-abort", Kind::FreeInFlight),
    (Switch::PreallocTimeout, "quarantine", Kind::Stuck),
    (Switch::MessageEpoch, "rooms", Kind::Crash),
    (Switch::RetryAfterSettle, "retry", Kind::FreeInFlight),
    (Switch::AuxValidated, "aux-message", Kind::FreeInFlight),
    (Switch::NotifyPeer, "planted", Kind::Stuck),
    (Switch::MetadataGate, "aux-rooms", Kind::StaleRead),
    (Switch::AckSet, "fan-in", Kind::FreeInFlight),
    (Switch::PoisonRecovers, "siblings", Kind::Leak),
    (Switch::StickyReason, "planted", Kind::FalseSuccess),
    (Switch::WorkerChecksRoom, "late-abort", Kind::FreeInFlight),
];

/// Searches `scope` with `off` switched off in the reference.
fn search(off: &[Switch], scope: &str, states: Option<u64>) -> Exhaustive<Step> {
    let profile = off.iter().fold(Profile::reference(), |profile, switch| profile.with(*switch, false));
    let config = Config { switches: profile.switches, scope: library::scope(scope).unwrap() };
    let options = ExhaustiveOptions { symmetry: true, jobs: 2, stop_at: Some(Severity::Exposure) };
    exhaustive(&Serving::new(config), &options, &Budget { states, ..Budget::default() })
}

/// Whether `switch` off alone shows `kind` in `scope`.
fn shows(switch: Switch, scope: &str, kind: Kind) -> bool {
    let mut states = 2_000;
    loop {
        let found = search(&[switch], scope, Some(states));
        if found.findings.iter().any(|found| found.signature.kind == kind) {
            return true;
        }
        if found.closed || states > 400_000 {
            return false;
        }
        states *= 6;
    }
}

#[test]
fn each_protection_is_needed() {
    for (switch, scope, kind) in NEEDED {
        assert!(Profile::reference().switches.on(*switch), "{switch} is no protection of the reference");
        assert!(shows(*switch, scope, *kind), "{switch} off shows no {kind} in {scope}");
    }
}

/// A protection that another one stands in front of: the protection, what is switched off besides, the scope, and the
/// kind that shows only when both are off.
const COVERED: &[(Switch, &[Switch], &str, Kind)] = &[
    (Switch::JoinSiblings, &[Switch::Poison], "siblings", Kind::FreeInFlight),
    (Switch::BatchBound, &[Switch::Poison], "huge-batch", Kind::FreeInFlight),
    (Switch::RegisterWhenCleared, &[Switch::NotifyPeer], "late-abort", Kind::Leak),
    (Switch::AbortReachesTable, &[Switch::NotifyPeer], "overlap", Kind::ReadAfterFree),
    (Switch::StickyFailed, &[Switch::TpAgreement], "fan-out-slow", Kind::FreeInFlight),
    (Switch::Generation, &[Switch::MessageEpoch], "rooms", Kind::FreeInFlight),
    (Switch::LengthCheck, &[Switch::Door, Switch::PrefillAbortAfterForward], "planted", Kind::StaleRead),
    (Switch::MetadataRoomCheck, &[Switch::AuxValidated], "aux-message", Kind::StaleRead),
];

/// Protections whose loss shows in no shipped scope, alone or with what seemed to stand in front of them, and switches
/// that are no protections; each with the reason.
const UNSEEN: &[(Switch, &str)] = &[
    (Switch::NoResurrection, "with epochs a late status names a room that nobody will use again"),
    (Switch::RoomReset, "with epochs a room never starts again"),
    (
        Switch::ClearForgetsInfos,
        "with epochs a room never starts again, so that no chunk finds the infos of another use",
    ),
    (
        Switch::WaitingPolled,
        "what fails while it waits is computed for nothing; its failure shows in the inflight queue",
    ),
    (
        Switch::PreallocPolled,
        "what was aborted while it waited for pages is given them and frees them in the same iteration",
    ),
    (Switch::NotifyAllEndpoints, "decode ranks agree by the minimum, so one that hears of a failure fails all"),
    (
        Switch::LockedTables,
        "a step is atomic for the explorers; the threaded models show it (models/tests/controls.rs)",
    ),
    (Switch::FifoReuse, "amplifies or hides: the order of the free list is no protection"),
    (Switch::EarlySend, "a feature that needs a protection, `early_send_waits`"),
];

/// What an exhaustive search finds with `off` switched off in the reference.
fn signatures(off: &[Switch], scope: &str) -> HashSet<Signature> {
    let found = search(off, scope, None);
    assert!(found.closed, "{off:?} in {scope}");
    found.findings.into_iter().map(|found| found.signature).collect()
}

#[test]
fn a_protection_that_another_stands_in_front_of_shows_when_both_are_off() {
    for (switch, front, scope, kind) in COVERED {
        let without_front = signatures(front, scope);
        let without_both = signatures(&[*front, &[*switch]].concat(), scope);
        let new = without_both.difference(&without_front).any(|signature| signature.kind == *kind);
        assert!(new, "{switch} off besides {front:?} adds no {kind} in {scope}");
    }
}

#[test]
fn every_switch_of_the_reference_is_accounted_for() {
    let needed = NEEDED.iter().map(|row| row.0);
    let filed: Vec<Switch> =
        needed.chain(COVERED.iter().map(|row| row.0)).chain(UNSEEN.iter().map(|row| row.0)).collect();
    for switch in Profile::reference().switches.iter() {
        let count = filed.iter().filter(|filed| **filed == switch).count();
        assert_eq!(count, 1, "{switch}");
    }
    assert!(UNSEEN.iter().all(|(_, reason)| !reason.is_empty()));
}
