//! When held slots go: poison and its end, the release timer, asking again, and prefill's own hold.

use super::kit::{Bench, HANDSHAKE, TO_DECODE, TO_PREFILL, WORKER, land, newest, plus, reference, scope, without};
use crate::cell::{DecodeStage, Lane, Poll, PrefillStage, Site, Step, Switch, Switches};
use crate::lifetime::Kind;

const STALLS: &str =
    "faults = { transfer_timeouts = 1, transfer_errors = 1, losses = 2, aborts = 1 }\ntimers = { release = 1 }";

/// A write has timed out and goes on; decode has been told and holds.
fn stalled(switches: Switches) -> Bench {
    let mut bench = Bench::new(switches, scope(STALLS));
    bench.take(HANDSHAKE).take([Step::Prefill, WORKER, Step::TransferTimeout(0), WORKER, TO_DECODE, Step::Decode]);
    assert_eq!(bench.decode_stage(0), Some(DecodeStage::Held));
    bench
}

#[test]
fn a_poisoned_room_never_acknowledges() {
    let mut bench = stalled(newest());
    assert!(bench.poisoned(0) && bench.outstanding(0) == 0);
    bench.take([TO_PREFILL]);
    assert!(!bench.has_target(0) && !bench.enabled(TO_DECODE));
    bench.take([land(0)]);
    assert!(bench.poisoned(0) && !bench.enabled(TO_DECODE), "not even when the write is over");
}

#[test]
fn without_poison_an_unsettled_write_is_acknowledged() {
    let mut bench = stalled(without(newest(), Switch::Poison));
    bench.take([TO_PREFILL, TO_DECODE, Step::Decode]);
    assert_eq!(bench.decode_stage(0), None);
    assert_eq!(bench.found, [Kind::FreeInFlight]);
}

#[test]
fn poison_ends_with_an_acknowledgement_when_the_write_is_proven_over() {
    let mut bench = stalled(plus(newest(), Switch::PoisonRecovers));
    bench.take([TO_PREFILL]);
    assert!(bench.poisoned(0) && bench.has_target(0) && !bench.enabled(TO_DECODE));
    bench.take([land(0)]);
    assert!(!bench.poisoned(0));
    bench.take([TO_DECODE, Step::Decode]);
    assert_eq!(bench.decode_stage(0), None);
    assert_eq!(bench.sites(), [Site::DecodeDrained]);
}

#[test]
fn a_write_that_fails_after_its_worker_gave_it_up_ends_poison_too() {
    let two = format!("siblings = 2\nbatch_pages = 2\n{STALLS}");
    let mut bench = Bench::new(without(reference(), Switch::JoinSiblings), scope(&two));
    bench.take(HANDSHAKE).take([Step::Prefill, WORKER, Step::TransferTimeout(0), WORKER, land(0)]);
    assert!(bench.poisoned(0), "the sibling goes on");
    bench.take([Step::TransferError(1)]);
    assert!(!bench.poisoned(0));
    assert_eq!(bench.writes(), [], "nobody looks at it any more");
}

#[test]
fn an_error_poisons_for_good_unless_a_proof_of_settlement_is_asked_for() {
    for (switches, poisoned) in [(newest(), true), (plus(newest(), Switch::PoisonRecovers), false)] {
        let mut bench = Bench::new(switches, scope(STALLS));
        bench.take(HANDSHAKE).take([Step::Prefill, WORKER, Step::TransferError(0), WORKER]);
        assert_eq!(bench.poisoned(0), poisoned);
    }
}

#[test]
fn the_release_timer_releases_without_proof() {
    let mut bench = stalled(newest());
    assert!(!bench.enabled(Step::Decode));
    bench.take([Step::Elapse, Step::Decode]);
    assert_eq!(bench.lines(), ["DecodeTimeout: A frees d0 page 0..2", "DecodeTimeout: A frees d0 row 0..1"]);
    assert_eq!(bench.found, [Kind::FreeInFlight]);
}

#[test]
fn a_release_timer_of_zero_never_fires() {
    let mut bench = Bench::new(newest(), scope("faults = { aborts = 1 }"));
    bench.take(HANDSHAKE).take([Step::Prefill, WORKER, Step::Abort(0), Step::Decode]);
    assert_eq!(bench.decode_stage(0), Some(DecodeStage::Held));
    assert!(!bench.enabled(Step::Elapse));
}

#[test]
fn with_timeout_holds_the_timer_asks_again_and_after_that_only_when_something_was_lost() {
    let mut bench = stalled(reference());
    bench.take([TO_PREFILL, Step::Elapse, Step::Decode]);
    assert_eq!(bench.decode_stage(0), Some(DecodeStage::Held));
    assert!(bench.enabled(TO_PREFILL), "asked again");
    bench.take([TO_PREFILL, Step::Elapse]);
    assert!(!bench.enabled(Step::Decode), "nothing was lost since");
}

#[test]
fn with_timeout_holds_a_lost_question_is_asked_again() {
    let Step::Deliver(lane) = TO_PREFILL else { unreachable!() };
    let mut bench = stalled(reference());
    bench.take([Step::Lose(lane), Step::Elapse, Step::Decode, Step::Lose(lane), Step::Elapse]);
    assert!(bench.enabled(Step::Decode), "the second question was lost");
    bench.take([Step::Decode, TO_PREFILL, land(0), TO_DECODE, Step::Decode]);
    assert_eq!(bench.decode_stage(0), None);
    assert_eq!(bench.sites().last(), Some(&Site::DecodeDrained));
}

#[test]
fn a_lost_acknowledgement_is_asked_for_again() {
    let mut bench = Bench::new(reference(), scope(STALLS));
    bench.take(HANDSHAKE).take([Step::Abort(0), Step::Decode, TO_PREFILL]);
    bench.take([Step::Lose(Lane::ToDecode { from: 0, to: 0 }), Step::Elapse, Step::Decode, TO_PREFILL, TO_DECODE]);
    assert_eq!(bench.acks(0), 1);
}

#[test]
fn an_error_waits_for_the_sibling_that_still_runs() {
    for (switches, waits) in [(newest(), true), (without(newest(), Switch::JoinSiblings), false)] {
        let mut bench = Bench::new(switches, scope(&format!("siblings = 2\n{STALLS}")));
        bench.take(HANDSHAKE).take([Step::Prefill, WORKER, Step::TransferError(0)]);
        assert_eq!(bench.enabled(WORKER), !waits);
        bench.take([land(1)]);
        assert!(bench.enabled(WORKER));
    }
}

#[test]
fn prefill_frees_source_pages_under_its_worker_unless_it_holds_them() {
    for (switches, held) in [(newest(), false), (plus(newest(), Switch::SourceHold), true)] {
        let mut bench = Bench::new(switches, scope(STALLS));
        bench.take(HANDSHAKE).take([Step::Prefill, WORKER, Step::Abort(0), Step::Prefill, Step::Prefill]);
        assert_eq!(bench.prefill_stage(0), held.then_some(PrefillStage::Held));
        assert_eq!(bench.found, if held { vec![] } else { vec![Kind::FreeInFlight] });
    }
}

#[test]
fn prefills_hold_ends_when_its_worker_has_drained() {
    let mut bench = Bench::new(plus(newest(), Switch::SourceHold), scope(STALLS));
    bench.take(HANDSHAKE).take([Step::Prefill, WORKER, Step::Abort(0), Step::Prefill, Step::Prefill]);
    assert!(!bench.enabled(Step::Prefill));
    bench.take([land(0), WORKER, land(0), WORKER, Step::Prefill]);
    assert_eq!(bench.lines().last().unwrap(), "PrefillHoldEnd: A frees p0 row 0..1");
    assert_eq!(bench.found, []);
}

#[test]
fn the_first_terminal_reason_is_what_the_client_is_told() {
    let planted = "requests = [{ prompt = 4, max_new = 1, rejected = { by = 'session-missing', legs = 'prefill' } }]";
    // The door is off, so that the refusal travels as far as a failed transfer.
    let base = without(plus(newest(), Switch::NotifyPeer), Switch::Door);
    for (switches, kind) in [(base, Some(Kind::FalseSuccess)), (plus(base, Switch::StickyReason), None)] {
        let mut bench = Bench::new(switches, scope(planted));
        bench.take(HANDSHAKE).take([Step::Prefill, TO_DECODE]);
        assert_eq!(bench.decode_room(0), Some(Poll::Failed));
        bench.take([Step::Decode]);
        assert_eq!(bench.found, kind.into_iter().collect::<Vec<_>>());
    }
}

const HELD: &str = "faults = { aborts = 1, losses = 1 }\ntimers = { release = 1 }";

/// Decode holds what a write is still coming for; prefill has heard of it.
const HOLDS: [Step; 5] = [Step::Prefill, WORKER, Step::Abort(0), Step::Decode, TO_PREFILL];

#[test]
fn without_a_release_timer_a_hold_waits_for_its_acknowledgement_alone() {
    let mut bench = Bench::new(newest(), scope("faults = { aborts = 1 }"));
    bench.take(HANDSHAKE).take(HOLDS);
    assert_eq!(bench.decode_stage(0), Some(DecodeStage::Held));
    assert!(!bench.enabled(Step::Decode) && !bench.enabled(Step::Elapse));
}

#[test]
fn a_timer_that_is_due_runs_no_more() {
    let mut bench = Bench::new(newest(), scope("faults = { aborts = 1 }\ntimers = { release = 2 }"));
    bench.take(HANDSHAKE).take(HOLDS).take([Step::Elapse]);
    assert!(bench.enabled(Step::Elapse));
    bench.take([Step::Elapse]);
    assert!(!bench.enabled(Step::Elapse) && bench.enabled(Step::Decode));
}

#[test]
fn a_hold_is_looked_at_when_its_acknowledgement_is_in() {
    for switches in [newest(), without(newest(), Switch::TpAgreement)] {
        let mut bench = Bench::new(switches, scope("faults = { aborts = 1 }"));
        bench.take(HANDSHAKE).take(HOLDS);
        assert!(!bench.enabled(Step::Decode));
        for step in [land(0), WORKER, land(0), WORKER, TO_DECODE, TO_DECODE] {
            if bench.enabled(step) {
                bench.take([step]);
            }
        }
        assert_eq!(bench.acks(0), 1);
        assert!(bench.enabled(Step::Decode));
    }
}

#[test]
fn prefill_is_asked_again_when_the_timer_is_due_and_once_more_for_each_loss() {
    let lose = Step::Lose(Lane::ToPrefill { from: 0, to: 0 });
    let mut bench = Bench::new(plus(newest(), Switch::TimeoutHolds), scope(HELD));
    bench.take(HANDSHAKE).take(HOLDS);
    assert!(!bench.enabled(Step::Decode), "the timer runs");
    bench.take([Step::Elapse, Step::Decode]);
    assert!(bench.enabled(TO_PREFILL), "it asks");
    bench.take([Step::Elapse]);
    assert!(!bench.enabled(Step::Decode), "nothing was lost, so the answer would be the same");
    bench.take([lose, Step::Decode]);
    assert!(bench.enabled(TO_PREFILL), "it asks again");
}
