//! ABORT and ABORT_ACK: who is told, who acknowledges, and what counts (protocol 6.2).

use super::kit::{Bench, HANDSHAKE, TO_DECODE, TO_PREFILL, WORKER, land, newest, oldest, plus, preset, scope, without};
use crate::cell::{Client, DecodeStage, Lane, Leg, Poll, PrefillStage, Site, Step, Switch, Switches, ToDecode};
use crate::lifetime::{Kind, Verdict};
use crate::platform::Shared;

const ABORTS: &str = "faults = { aborts = 1 }\ntimers = { release = 1 }";

/// A write is in flight when the client aborts; decode has heard of it and prefill's scheduler has not.
fn aborted(switches: Switches) -> Bench {
    let mut bench = Bench::new(switches, scope(ABORTS));
    bench.take(HANDSHAKE).take([Step::Prefill, WORKER, Step::Abort(0), Step::Decode]);
    bench
}

#[test]
fn the_client_is_done_with_and_both_servers_are_told() {
    let mut bench = Bench::new(newest(), scope(ABORTS));
    bench.take(HANDSHAKE).take([Step::Abort(0)]);
    assert_eq!(bench.answers(), [(0, Verdict::Aborted)]);
    assert_eq!(bench.client(0), Client::Done);
    assert!(bench.enabled(Step::Prefill) && bench.enabled(Step::Decode));
    assert!(!bench.enabled(Step::Abort(0)), "the budget is spent");
}

#[test]
fn decode_holds_until_the_write_is_over_and_acknowledged() {
    let mut bench = aborted(newest());
    assert_eq!((bench.decode_stage(0), bench.decode_room(0)), (Some(DecodeStage::Held), None));
    bench.take([TO_PREFILL]);
    assert_eq!((bench.prefill_room(0), bench.outstanding(0)), (Some(Poll::Failed), 1));
    assert!(bench.has_target(0) && !bench.enabled(TO_DECODE));
    bench.take([land(0), WORKER, land(0), WORKER]);
    assert_eq!((bench.outstanding(0), bench.has_target(0)), (0, false));
    bench.take([TO_DECODE]);
    assert_eq!(bench.decode_room(0), None, "a status for a cleared room creates none");
    bench.take([TO_DECODE]);
    assert_eq!(bench.acks(0), 1);
    bench.take([Step::Decode]);
    assert_eq!(bench.lines(), ["DecodeDrained: A frees d0 page 0..2", "DecodeDrained: A frees d0 row 0..1"]);
    assert_eq!(bench.found, []);
}

#[test]
fn without_the_message_or_without_the_hold_the_pages_go_under_the_write() {
    let off = |switch| without(newest(), switch);
    for switches in [oldest(), preset("sglang-0.5.20"), off(Switch::AbortMessage), off(Switch::DeferByDefault)] {
        let bench = aborted(switches);
        assert_eq!(bench.decode_stage(0), None);
        assert!(bench.sites().contains(&Site::DecodeReleaseNow));
        assert_eq!(bench.found, [Kind::FreeInFlight]);
    }
}

#[test]
fn before_the_message_existed_prefill_is_not_told() {
    assert!(!aborted(oldest()).enabled(TO_PREFILL));
    assert!(aborted(preset("sglang-0.5.20")).enabled(TO_PREFILL));
}

#[test]
fn an_acknowledgement_can_overtake_a_tracker_that_is_armed_too_late() {
    for (switches, acks) in [(newest(), 1), (without(newest(), Switch::ArmedBeforeSend), 0)] {
        let mut bench = Bench::new(switches, scope(ABORTS));
        bench.take(HANDSHAKE).take([Step::Abort(0), Step::Decode, TO_PREFILL, TO_DECODE]);
        assert_eq!(bench.acks(0), acks);
        bench.take([Step::Decode]);
        assert_eq!(bench.decode_stage(0), (acks == 0).then_some(DecodeStage::Held));
    }
}

#[test]
fn an_abort_before_pages_are_reserved_holds_nothing() {
    let small = format!(
        "decode_pages = 2\nrequests = [{{ prompt = 4, max_new = 1 }}, {{ prompt = 2, max_new = 1 }}]\n{ABORTS}"
    );
    let mut bench = Bench::new(newest(), scope(&small));
    bench.take([Step::Submit, Step::Submit, Step::Decode, Step::Abort(1)]);
    assert_eq!(bench.decode_stage(1), Some(DecodeStage::Prealloc));
    bench.take([Step::Decode]);
    assert_eq!((bench.decode_stage(1), bench.decode_room(1)), (None, None));
    assert_eq!(bench.decode_rank(0).armed.with(|armed| armed.get(bench.key(1)).copied()), None);
}

#[test]
fn a_failure_that_decode_did_not_begin_is_notified_and_held_too() {
    let errors = "faults = { transfer_errors = 1 }";
    for (switches, then) in [(newest(), Some(DecodeStage::Held)), (without(newest(), Switch::DeferAllFailures), None)] {
        let mut bench = Bench::new(switches, scope(errors));
        bench.take(HANDSHAKE).take([Step::Prefill, WORKER, Step::TransferError(0), WORKER, TO_DECODE, Step::Decode]);
        assert_eq!(bench.answers(), [(0, Verdict::Failed)]);
        assert_eq!(bench.decode_stage(0), then);
        assert_eq!(bench.enabled(TO_PREFILL), then.is_some());
    }
}

#[test]
fn each_armed_room_has_the_next_generation_and_a_stale_acknowledgement_is_ignored() {
    for (switches, counted) in [(newest(), 0), (without(newest(), Switch::Generation), 1)] {
        let mut bench = aborted(switches);
        assert_eq!(bench.decode_rank(0).armed.with(|armed| armed.get(bench.key(0)).unwrap().generation), 1);
        let stale = ToDecode::Ack { key: bench.key(0), rank: 0, generation: 0 };
        bench.state.cell.world.to_decode(0, 0).with(|queue| queue.push(stale));
        bench.take([TO_DECODE]);
        assert_eq!(bench.acks(0), counted);
    }
}

#[test]
fn an_acknowledgement_for_a_room_that_is_not_armed_is_ignored() {
    let mut bench = Bench::new(newest(), scope(ABORTS));
    bench.take(HANDSHAKE);
    let stray = ToDecode::Ack { key: bench.key(0), rank: 0, generation: 0 };
    bench.state.cell.world.to_decode(0, 0).with(|queue| queue.push(stray));
    bench.take([TO_DECODE]);
    assert_eq!(bench.acks(0), 0);
}

#[test]
fn acknowledgements_are_a_set_of_ranks() {
    for (switches, counted) in [(newest(), 1), (without(newest(), Switch::AckSet), 2)] {
        let mut bench = Bench::new(switches, scope(&format!("prefill_ranks = 2\n{ABORTS}")));
        bench.take([Step::Submit, Step::Prefill, Step::Decode, Step::Abort(0), Step::Decode]);
        let ack = ToDecode::Ack { key: bench.key(0), rank: 0, generation: 1 };
        bench.state.cell.world.to_decode(0, 0).with(|queue| {
            queue.push(ack.clone());
            queue.push(ack);
        });
        bench.take([TO_DECODE, TO_DECODE]);
        assert_eq!(bench.acks(0), counted);
        assert_eq!(bench.enabled(Step::Decode), counted == 2, "both prefill ranks are expected");
    }
}

#[test]
fn a_room_that_is_success_stays_so_and_is_acknowledged() {
    let mut bench = Bench::new(newest(), scope(ABORTS));
    bench.take(HANDSHAKE).take([Step::Prefill, WORKER, land(0), WORKER, land(0), Step::Abort(0), Step::Decode, WORKER]);
    bench.take([TO_PREFILL]);
    assert_eq!(bench.prefill_room(0), Some(Poll::Success));
    bench.take([TO_DECODE, TO_DECODE]);
    assert_eq!(bench.acks(0), 1);
}

#[test]
fn clearing_the_sender_keeps_who_waits_for_the_drain() {
    for (switches, kept) in [(newest(), true), (without(newest(), Switch::KeepAckTargetOnClear), false)] {
        let mut bench = aborted(switches);
        bench.take([TO_PREFILL, Step::Prefill]);
        assert_eq!((bench.prefill_stage(0), bench.prefill_room(0)), (None, None), "cleared under the worker");
        assert_eq!(bench.has_target(0), kept);
        bench.take([land(0), WORKER, land(0), WORKER, TO_DECODE]);
        assert_eq!(bench.enabled(TO_DECODE), kept, "the acknowledgement");
    }
}

#[test]
fn an_abort_for_a_room_that_is_cleared_under_its_worker_is_acknowledged_later() {
    for (switches, registered) in [(newest(), true), (without(newest(), Switch::RegisterWhenCleared), false)] {
        let mut bench = aborted(switches);
        bench.take([Step::Prefill, Step::Prefill]);
        assert_eq!((bench.prefill_room(0), bench.outstanding(0)), (None, 1));
        bench.take([TO_PREFILL]);
        assert_eq!(bench.has_target(0), registered);
        assert!(!bench.enabled(TO_DECODE));
    }
}

#[test]
fn an_abort_for_a_room_that_is_gone_and_drained_is_acknowledged_at_once() {
    for switches in [newest(), without(newest(), Switch::RegisterWhenCleared)] {
        let mut bench = Bench::new(switches, scope(ABORTS));
        bench.take(HANDSHAKE).take([Step::Abort(0), Step::Prefill, Step::Decode]);
        assert_eq!(bench.prefill_room(0), None);
        bench.take([TO_PREFILL, TO_DECODE]);
        assert_eq!(bench.acks(0), 1);
    }
}

#[test]
fn one_target_a_room_is_kept_before_0_5_21() {
    let fan_out = format!("decode_ranks = 2\n{ABORTS}");
    for (switches, targets) in [(newest(), 2), (without(newest(), Switch::KeepAckTargetOnClear), 1)] {
        let mut bench = Bench::new(switches, scope(&fan_out));
        let second = Step::Deliver(Lane::ToPrefill { from: 1, to: 0 });
        bench.take([Step::Submit, Step::Prefill, Step::Decode, TO_PREFILL, second, Step::Prefill, WORKER]);
        bench.take([Step::Abort(0), Step::Decode, TO_PREFILL, second]);
        assert_eq!(bench.prefill_rank(0).targets.with(|all| all.get(bench.key(0)).unwrap().len()), targets);
    }
}

/// A worker has counted a chunk and not looked at its room; ABORT comes in between.
fn overtaken(switches: Switches) -> Bench {
    let mut bench = Bench::new(switches, scope(ABORTS));
    bench.take(HANDSHAKE).take([Step::Prefill]).take_as_they_are([WORKER]);
    assert_eq!((bench.outstanding(0), bench.chunks(0).len()), (1, 0));
    bench.take([Step::Abort(0), Step::Decode, TO_PREFILL]);
    assert_eq!(bench.prefill_room(0), Some(Poll::Failed));
    bench
}

#[test]
fn an_abort_that_overtakes_a_worker_finds_its_chunk_counted() {
    let bench = overtaken(newest());
    assert!(bench.has_target(0) && !bench.enabled(TO_DECODE));
}

#[test]
fn a_worker_that_skips_a_dead_rooms_chunk_tries_to_acknowledge() {
    for (switches, acknowledges) in [(newest(), true), (without(newest(), Switch::SkipAcks), false)] {
        let mut bench = overtaken(switches);
        bench.take_as_they_are([WORKER]);
        assert_eq!((bench.outstanding(0), bench.writes()), (0, vec![]));
        assert_eq!(bench.enabled(TO_DECODE), acknowledges);
    }
}

#[test]
fn an_abort_reaches_the_status_table_from_0_5_20_on() {
    let since = preset("sglang-0.5.20");
    let before = without(since, Switch::AbortReachesTable);
    for (switches, room) in [(since, Poll::Failed), (before, Poll::WaitingForInput)] {
        let mut bench = Bench::new(switches, scope("faults = { aborts = 1 }\nchunk = 2"));
        bench.take(HANDSHAKE).take([Step::Prefill]);
        assert_eq!(bench.prefill_stage(0), Some(PrefillStage::Waiting));
        bench.take([Step::Abort(0), Step::Prefill]);
        assert_eq!((bench.prefill_stage(0), bench.prefill_room(0)), (None, Some(room)));
        assert_eq!(bench.legs(0).0, Leg::Done(Verdict::Aborted));
    }
}

#[test]
fn a_status_for_a_cleared_room_comes_back_only_without_the_protection() {
    for (switches, room) in [(newest(), None), (without(newest(), Switch::NoResurrection), Some(Poll::Success))] {
        let mut bench = Bench::new(switches, scope(ABORTS));
        bench.take(HANDSHAKE).take([Step::Prefill, WORKER, land(0), WORKER, land(0), WORKER]);
        bench.take([Step::Abort(0), Step::Decode]);
        assert_eq!(bench.decode_room(0), None);
        bench.take([TO_DECODE]);
        assert_eq!(bench.decode_room(0), room);
    }
}

#[test]
fn an_abort_while_decode_runs_ends_the_request_at_its_next_step() {
    let mut bench = Bench::new(newest(), scope("faults = { aborts = 1 }\nrequests = [{ prompt = 3, max_new = 3 }]"));
    bench.take(HANDSHAKE).take([Step::Prefill, WORKER, land(0), WORKER, land(0), WORKER, TO_DECODE, Step::Decode]);
    assert_eq!(bench.decode_stage(0), Some(DecodeStage::Running));
    bench.take([Step::Abort(0), Step::Decode]);
    assert_eq!(bench.lines()[2..], ["DecodeAbortRunning: A frees d0 page 0..2"]);
}

#[test]
fn with_notify_peer_prefill_tells_decode_of_its_own_abort() {
    for (switches, told) in [(newest(), false), (plus(newest(), Switch::NotifyPeer), true)] {
        let mut bench = Bench::new(switches, scope(ABORTS));
        bench.take(HANDSHAKE).take([Step::Abort(0), Step::Prefill]);
        assert_eq!(bench.enabled(TO_DECODE), told);
    }
}
