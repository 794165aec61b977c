//! Each protection of the reference is needed here too: without it, a model fails. Those for which that is not so are named,
//! with the reason.

mod common;

use common::{job, reference_without, run};
use pagefence::cases::Pattern;
use pagefence::cell::{Profile, Switch};
use pagefence::lifetime::Kind;
use pagefence_models::{Ending, Engine};

use Switch::{
    AbortMessage, AbortReachesTable, AckSet, ArmedBeforeSend, AuxValidated, BatchBound, ClearForgetsInfos,
    DeferAllFailures, DeferByDefault, Door, EarlySend, EarlySendWaits, FifoReuse, Generation, JoinSiblings,
    KeepAckTargetOnClear, LengthCheck, LockedTables, MessageEpoch, MetadataGate, MetadataRoomCheck, NoResurrection,
    NotifyAllEndpoints, NotifyPeer, Poison, PoisonRecovers, PreallocPolled, PreallocTimeout, PrefillAbortAfterForward,
    RegisterWhenCleared, RetryAfterSettle, RoomReset, SkipAcks, SourceHold, StickyFailed, StickyReason, TimeoutHolds,
    TpAgreement, WaitingPolled, WorkerChecksRoom,
};

/// The protection, what stands in front of it and is off besides, where it fails, and how.
const CONTROLS: &[(Switch, &[Switch], &str, Kind)] = &[
    (Door, &[], "admission/planted", Kind::FalseSuccess),
    (PrefillAbortAfterForward, &[], "admission/late-rejection", Kind::FalseSuccess),
    (AbortMessage, &[], "scheduler/aborted-batch", Kind::FreeInFlight),
    (ArmedBeforeSend, &[], "scheduler/aborted-batch", Kind::Stuck),
    (DeferByDefault, &[], "scheduler/aborted-batch", Kind::FreeInFlight),
    (DeferAllFailures, &[], "transfer/timeout-with-release", Kind::FreeInFlight),
    (KeepAckTargetOnClear, &[], "admission/room-used-again", Kind::Stuck),
    (Poison, &[], "transfer/timeout-with-release", Kind::FreeInFlight),
    (TpAgreement, &[], "release/fan-out", Kind::Divergence),
    (EarlySendWaits, &[], "scheduler/overlap", Kind::StaleRead),
    (MetadataGate, &[], "scheduler/aux-rooms", Kind::StaleRead),
    (AckSet, &[], "release/fan-in", Kind::FreeInFlight),
    (SkipAcks, &[], "scheduler/aborted-batch", Kind::Stuck),
    (SourceHold, &[], "scheduler/aborted-batch", Kind::FreeInFlight),
    (TimeoutHolds, &[], "transfer/late-landing", Kind::FreeInFlight),
    (PoisonRecovers, &[], "transfer/error-with-sibling", Kind::Leak),
    (StickyReason, &[], "admission/rejection-meets-handshake", Kind::FalseSuccess),
    (NotifyPeer, &[], "admission/rejection-meets-handshake", Kind::Stuck),
    (PreallocTimeout, &[], "admission/death-meets-prealloc", Kind::Stuck),
    (MessageEpoch, &[], "admission/room-used-again", Kind::Stuck),
    (RetryAfterSettle, &[], "transfer/timeout-with-first-attempt", Kind::FreeInFlight),
    (LockedTables, &[], "admission/handshake-meets-sender", Kind::Stuck),
    (WorkerChecksRoom, &[], "scheduler/aborted-batch", Kind::FreeInFlight),
    (AuxValidated, &[], "scheduler/row-meets-next-owner", Kind::FreeInFlight),
    (BatchBound, &[Poison], "transfer/huge-batch", Kind::FreeInFlight),
    (JoinSiblings, &[Poison], "transfer/siblings", Kind::FreeInFlight),
    (StickyFailed, &[TpAgreement], "admission/abort-meets-late-handshake", Kind::FreeInFlight),
    (RegisterWhenCleared, &[NotifyPeer], "release/late-abort", Kind::Leak),
    (MetadataRoomCheck, &[AuxValidated], "scheduler/aux-message", Kind::StaleRead),
    (AbortReachesTable, &[NotifyPeer], "scheduler/aborted-batch", Kind::ReadAfterFree),
    (LengthCheck, &[Door, PrefillAbortAfterForward], "admission/planted", Kind::StaleRead),
];

/// Protections whose loss no model shows.
const UNSEEN: &[(Switch, &str)] = &[
    (Generation, "the explorers show it (rooms, without message_epoch, which at this grain breaks everything alone)"),
    (NoResurrection, "with epochs a late status names a room that nobody will use again"),
    (RoomReset, "with epochs a room never starts again"),
    (ClearForgetsInfos, "with epochs a room never starts again, so that no chunk finds the infos of another use"),
    (WaitingPolled, "what fails while it waits is computed for nothing; its failure shows in the inflight queue"),
    (PreallocPolled, "what was aborted while it waited for pages is given them and frees them in the same iteration"),
    (NotifyAllEndpoints, "decode ranks agree by the minimum, so one that hears of a failure fails all"),
    (FifoReuse, "amplifies or hides: the order of the free list is no protection"),
    (EarlySend, "a feature that needs a protection, `early_send_waits`"),
];

/// Executions until a control has failed to fail. The rarest needs some thousand.
const ENOUGH: u64 = 40_000;

#[test]
fn without_a_protection_a_model_fails() {
    let control = |(switch, front, place, kind): &(Switch, &[Switch], &str, Kind)| {
        let off = [*front, &[*switch]].concat();
        job(place, reference_without(&off), Engine::Shuttle, ENOUGH, Some(Pattern::of(*kind)))
    };
    let jobs: Vec<_> = CONTROLS.iter().map(control).collect();
    for (report, (switch, _, place, kind)) in run(&jobs).into_iter().zip(CONTROLS) {
        let shown = report.met.iter().any(|met| met.signature.kind == *kind);
        assert!(
            report.ending == Ending::Found && shown,
            "{switch} off shows no {kind} in {place}: {:?}",
            report.ending
        );
    }
}

#[test]
fn what_stands_in_front_of_a_protection_does_not_show_the_same_alone() {
    let behind: Vec<_> = CONTROLS.iter().filter(|control| !control.1.is_empty()).collect();
    // As many executions as the control itself is known to need, twice over; see the test above for the upper bound.
    let jobs: Vec<_> = behind
        .iter()
        .map(|(_, front, place, kind)| {
            job(place, reference_without(front), Engine::Shuttle, 1_000, Some(Pattern::of(*kind)))
        })
        .collect();
    for (report, (switch, front, place, kind)) in run(&jobs).iter().zip(&behind) {
        let shown = report.met.iter().any(|met| met.signature.kind == *kind);
        assert!(!shown, "{front:?} off shows {kind} in {place} without {switch} being off");
    }
}

#[test]
fn every_switch_of_the_reference_is_accounted_for() {
    let filed: Vec<Switch> =
        CONTROLS.iter().map(|control| control.0).chain(UNSEEN.iter().map(|unseen| unseen.0)).collect();
    for switch in Profile::reference().switches.iter() {
        assert_eq!(filed.iter().filter(|filed| **filed == switch).count(), 1, "{switch}");
    }
    assert!(UNSEEN.iter().all(|(_, reason)| !reason.is_empty()));
}
