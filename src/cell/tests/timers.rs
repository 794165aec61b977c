//! Timers, the death of prefill, and who notices.

use super::kit::{Bench, HANDSHAKE, TO_DECODE, TO_PREFILL, WORKER, land, newest, plus, scope, without};
use crate::cell::{DecodeStage, Leg, Poll, PrefillHealth, PrefillStage, Step, Switch};
use crate::lifetime::{Kind, Verdict};
use crate::platform::Shared;

#[test]
fn the_bootstrap_timer_fails_the_room_and_decode_is_not_told() {
    let mut bench = Bench::new(newest(), scope("timers = { bootstrap = 2 }"));
    bench.take([Step::Submit, Step::Prefill, Step::Elapse]);
    assert!(!bench.enabled(Step::Prefill));
    bench.take([Step::Elapse]);
    assert!(!bench.enabled(Step::Elapse), "it is due, and runs no more");
    bench.take([Step::Prefill]);
    assert_eq!((bench.prefill_stage(0), bench.prefill_room(0)), (None, None));
    assert_eq!(bench.legs(0).0, Leg::Done(Verdict::Failed));
    assert!(!bench.enabled(TO_DECODE));
}

#[test]
fn the_bootstrap_timer_ends_with_the_bootstrap_queue() {
    let mut bench = Bench::new(newest(), scope("timers = { bootstrap = 1 }\nchunk = 2"));
    bench.take(HANDSHAKE).take([Step::Prefill]);
    assert_eq!((bench.prefill_stage(0), bench.at_prefill(0).unwrap().timer), (Some(PrefillStage::Waiting), None));
}

#[test]
fn a_room_that_opened_in_time_is_not_failed_by_a_timer_that_is_due() {
    let mut bench = Bench::new(newest(), scope("timers = { bootstrap = 1 }"));
    bench.take(HANDSHAKE).take([Step::Elapse, Step::Prefill]);
    assert_eq!(bench.prefill_stage(0), Some(PrefillStage::Inflight));
}

#[test]
fn the_waiting_timer_fails_the_room_and_prefill_is_told() {
    let mut bench = Bench::new(newest(), scope("timers = { waiting = 1, release = 1 }"));
    bench.take([Step::Submit, Step::Decode]);
    assert_eq!(bench.at_decode(0).unwrap().timer, Some(1));
    bench.take([TO_PREFILL, Step::Elapse, Step::Decode]);
    assert_eq!(bench.answers(), [(0, Verdict::Failed)]);
    assert_eq!(bench.decode_stage(0), Some(DecodeStage::Held));
    assert!(bench.enabled(TO_PREFILL), "ABORT");
}

#[test]
fn the_waiting_timer_tells_prefill_in_versions_that_tell_no_other_failure() {
    let switches = without(newest(), Switch::DeferAllFailures);
    let mut bench = Bench::new(switches, scope("timers = { waiting = 1, release = 1 }"));
    bench.take([Step::Submit, Step::Decode, TO_PREFILL, Step::Elapse, Step::Decode]);
    assert!(bench.enabled(TO_PREFILL), "ABORT");
}

#[test]
fn the_waiting_timer_starts_when_pages_are_published() {
    let two = "decode_pages = 2\ntimers = { waiting = 1 }\nrequests = [{ prompt = 4, max_new = 1 }, { prompt = 2, max_new = 1 }]";
    let mut bench = Bench::new(newest(), scope(two));
    bench.take([Step::Submit, Step::Submit, Step::Decode]);
    assert_eq!((bench.at_decode(0).unwrap().timer, bench.at_decode(1).unwrap().timer), (Some(1), None));
}

const FULL: &str = "decode_pages = 2\ntimers = { prealloc = 1 }\nrequests = [{ prompt = 4, max_new = 1 }, { prompt = 2, max_new = 1 }]";

#[test]
fn waiting_for_pages_is_bounded_only_with_the_timer() {
    let mut bench = Bench::new(plus(newest(), Switch::PreallocTimeout), scope(FULL));
    bench.take([Step::Submit, Step::Submit, Step::Decode, Step::Elapse, Step::Decode]);
    assert_eq!(bench.answers(), [(1, Verdict::Failed)]);
    assert_eq!((bench.decode_stage(1), bench.decode_room(1)), (None, None));
    let mut bench = Bench::new(newest(), scope(FULL));
    bench.take([Step::Submit, Step::Submit, Step::Decode]);
    assert!(!bench.enabled(Step::Elapse));
}

const DEATH: &str = "faults = { kills = 1 }\ntimers = { release = 1 }";

#[test]
fn death_ends_writes_breaks_legs_and_empties_prefill() {
    let mut bench = Bench::new(newest(), scope(DEATH));
    bench.take(HANDSHAKE).take([Step::Prefill, WORKER]).take([Step::KillPrefill]);
    assert_eq!(
        bench.lines(),
        ["PrefillDeath: 0 settles", "PrefillDeath: A frees p0 page 0..2", "PrefillDeath: A frees p0 row 0..1",]
    );
    assert_eq!(bench.legs(0), (Leg::Done(Verdict::Failed), Leg::Open));
    assert_eq!((bench.prefill_stage(0), bench.prefill_room(0)), (None, None));
    assert!(!bench.enabled(Step::Prefill) && !bench.enabled(WORKER) && !bench.enabled(land(0)));
    assert!(!bench.enabled(Step::KillPrefill));
}

#[test]
fn what_was_on_its_way_to_a_dead_prefill_is_gone() {
    let mut bench = Bench::new(newest(), scope(DEATH));
    bench.take([Step::Submit, Step::Decode, Step::KillPrefill]);
    assert_eq!(bench.legs(0).0, Leg::Done(Verdict::Failed), "unread over HTTP");
    bench.take([Step::ReplacePrefill]);
    assert!(!bench.enabled(TO_PREFILL) && !bench.enabled(Step::Prefill));
}

#[test]
fn a_dead_prefill_refuses_connections_and_its_replacement_takes_them() {
    let two = format!("{DEATH}\nrequests = [{{ prompt = 4, max_new = 1 }}, {{ prompt = 2, max_new = 1 }}]");
    let mut bench = Bench::new(newest(), scope(&two));
    bench.take([Step::KillPrefill, Step::Submit]);
    assert_eq!(bench.legs(0), (Leg::Done(Verdict::Failed), Leg::Open));
    bench.take([Step::ReplacePrefill, Step::Submit]);
    assert_eq!(bench.legs(1), (Leg::Open, Leg::Open));
    assert_eq!(bench.state.cell.health, PrefillHealth::Alive);
    assert!(!bench.enabled(Step::Heartbeat));
}

#[test]
fn the_heartbeat_fails_every_room_but_a_success() {
    let two = format!("{DEATH}\nrequests = [{{ prompt = 4, max_new = 1 }}, {{ prompt = 2, max_new = 1 }}]");
    let mut bench = Bench::new(newest(), scope(&two));
    bench.take(HANDSHAKE).take([Step::Prefill, WORKER, land(0), WORKER, land(0), WORKER, TO_DECODE]);
    bench.take([Step::Submit, Step::KillPrefill]);
    bench.decode_rank(0).update_status(bench.key(1), Poll::Bootstrapping, bench.serving.config());
    bench.take([Step::Heartbeat]);
    assert_eq!((bench.decode_room(0), bench.decode_room(1)), (Some(Poll::Success), Some(Poll::Failed)));
    assert!(!bench.enabled(Step::Heartbeat), "noticed");
}

#[test]
fn what_is_held_for_a_dead_peer_is_quarantined_and_no_leak() {
    let hold = plus(newest(), Switch::TimeoutHolds);
    let mut bench = Bench::new(hold, scope(DEATH));
    bench.take(HANDSHAKE).take([Step::KillPrefill, Step::Heartbeat, Step::Decode]);
    assert_eq!(bench.decode_stage(0), Some(DecodeStage::Held));
    assert_eq!(bench.drain(), []);
}

/// What would be violated if nothing moved any more.
fn at_rest(bench: &Bench) -> Vec<Kind> {
    let mut found = Vec::new();
    bench.state.cell.judge_quiet(&bench.state.oracle, false, &mut found);
    found.into_iter().map(|violation| violation.kind).collect()
}

#[test]
fn a_missing_room_is_a_crash_and_the_scheduler_stops_at_once() {
    let mut bench =
        Bench::new(newest(), scope("requests = [{ prompt = 4, max_new = 1 }, { prompt = 2, max_new = 1 }]"));
    bench.take(HANDSHAKE).take([Step::Submit]);
    bench.prefill_rank(0).update_status(bench.key(0), Poll::Success, bench.serving.config());
    bench.take([Step::Prefill]);
    assert_eq!(bench.lines(), ["PrefillPollState: node 0 crashes over A"]);
    assert_eq!(at_rest(&bench), [], "what stands still because of a crash is no news");
    assert_eq!(bench.found, [Kind::Crash]);
    assert!(bench.state.cell.prefill.crashed());
    assert!(!bench.enabled(Step::Prefill));
}

#[test]
fn a_crash_in_the_inflight_queue_takes_no_new_request_in() {
    let mut bench =
        Bench::new(newest(), scope("requests = [{ prompt = 4, max_new = 1 }, { prompt = 2, max_new = 1 }]"));
    bench.take(HANDSHAKE).take([Step::Prefill, Step::Submit]);
    let key = bench.key(0);
    bench.prefill_rank(0).rooms.with(|rooms| rooms.remove(key));
    bench.take([Step::Prefill]);
    assert_eq!(bench.lines(), ["CheckStatus: node 0 crashes over A"]);
    assert_eq!(bench.prefill_stage(1), None);
}

#[test]
fn a_crash_in_decodes_transfer_queue_takes_no_decode_step() {
    let two = "requests = [{ prompt = 3, max_new = 4 }, { prompt = 2, max_new = 1 }]";
    let mut bench = Bench::new(without(newest(), Switch::TpAgreement), scope(two));
    bench.take(HANDSHAKE).take([Step::Prefill, WORKER, land(0), WORKER, land(0), WORKER, TO_DECODE, Step::Decode]);
    bench.take([Step::Submit, Step::Decode]);
    assert_eq!(bench.decode_stage(1), Some(DecodeStage::Transfer));
    let key = bench.key(1);
    bench.decode_rank(0).rooms.with(|rooms| rooms.remove(key));
    assert_eq!(bench.decode_stage(0), Some(DecodeStage::Running));
    bench.take([Step::Decode]);
    assert_eq!(bench.lines(), ["CheckStatus: node 16 crashes over B"]);
    assert_eq!(at_rest(&bench), [], "what stands still because of a crash is no news");
}
