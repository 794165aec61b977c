//! Two requests in one bootstrap room.

use super::kit::{Bench, HANDSHAKE, TO_DECODE, TO_PREFILL, WORKER, land, newest, oldest, plus, scope, without};
use crate::cell::{DecodeStage, Poll, PrefillStage, Scope, Site, Step, Switch};
use crate::lifetime::Kind;
use crate::platform::Shared;

fn shared_room() -> Scope {
    scope(
        "faults = { aborts = 1 }\nrequests = [{ prompt = 2, max_new = 1, room = 7 }, { prompt = 2, max_new = 1, room = 7 }]",
    )
}

/// Both requests are in decode's transfer queue; the first is committed, and its room is cleared.
const FIRST_DONE: [Step; 10] =
    [Step::Submit, Step::Decode, Step::Prefill, WORKER, land(0), WORKER, land(0), WORKER, TO_DECODE, Step::Decode];

#[test]
fn the_room_of_one_request_is_cleared_under_the_other() {
    let mut bench = Bench::new(newest(), shared_room());
    bench.take(HANDSHAKE).take(FIRST_DONE);
    assert_eq!(bench.found, [], "both were polled before either was acted on");
    bench.take([Step::Decode]);
    assert_eq!(bench.found, [Kind::Crash]);
    assert_eq!(bench.sites().last(), Some(&Site::CheckStatus));
}

#[test]
fn what_stands_still_because_of_a_crash_is_not_stuck() {
    let timers = "timers = { bootstrap = 1, waiting = 1, release = 1 }\nfaults = { aborts = 1 }";
    let requests = "requests = [{ prompt = 2, max_new = 1, room = 7 }, { prompt = 2, max_new = 1, room = 7 }]";
    let mut bench = Bench::new(newest(), scope(&format!("{timers}\n{requests}")));
    bench.take(HANDSHAKE).take(FIRST_DONE);
    let found = bench.drain();
    assert!(found.contains(&Kind::Crash) && !found.contains(&Kind::Stuck) && !found.contains(&Kind::Leak), "{found:?}");
}

#[test]
fn with_an_epoch_a_reused_room_is_another_room() {
    let mut bench = Bench::new(plus(newest(), Switch::MessageEpoch), shared_room());
    bench.take(HANDSHAKE).take([Step::Submit, Step::Decode, Step::Abort(0), Step::Decode]);
    assert_eq!(bench.found, []);
    assert_eq!((bench.decode_room(0), bench.decode_room(1)), (None, Some(Poll::WaitingForInput)));
    assert_eq!(bench.decode_stage(1), Some(DecodeStage::Transfer));
}

#[test]
fn a_handshake_of_the_last_request_opens_the_room_of_the_next() {
    for (switches, opened) in [(oldest(), true), (plus(oldest(), Switch::MessageEpoch), false)] {
        let mut bench = Bench::new(switches, shared_room());
        bench.take([Step::Submit, Step::Decode, Step::Abort(0), Step::Decode, Step::Prefill]);
        bench.take([TO_PREFILL, Step::Submit, Step::Prefill]);
        assert_eq!(bench.prefill_stage(0), None);
        let expected = if opened { PrefillStage::Inflight } else { PrefillStage::Bootstrap };
        assert_eq!(bench.prefill_stage(1), Some(expected));
    }
}

#[test]
fn a_status_of_the_last_request_ends_the_transfer_of_the_next() {
    for (switches, ended) in [(newest(), true), (plus(newest(), Switch::MessageEpoch), false)] {
        let mut bench = Bench::new(switches, shared_room());
        bench.take(HANDSHAKE).take([Step::Prefill, WORKER, land(0), WORKER, land(0), WORKER]);
        bench.take([Step::Abort(0), Step::Decode, Step::Submit, Step::Decode, TO_DECODE]);
        assert_eq!(bench.decode_room(1) == Some(Poll::Success), ended);
    }
}

#[test]
fn a_room_that_starts_again_forgets_its_last_use() {
    for (switches, forgets) in [(newest(), true), (without(newest(), Switch::RoomReset), false)] {
        let bench = Bench::new(switches, shared_room());
        let (shared, key) = (bench.prefill_rank(0), bench.key(0));
        shared.targets.with(|targets| targets.entry(key).push((0, 1)));
        shared.poisoned.with(|poisoned| poisoned.set(key, ()));
        shared.count(key, 1);
        shared.update_status(key, Poll::Success, bench.serving.config());
        assert!(bench.has_target(0) && bench.poisoned(0) && bench.outstanding(0) == 1, "no room was created");
        shared.update_status(key, Poll::Bootstrapping, bench.serving.config());
        let left = (bench.has_target(0), bench.poisoned(0), bench.outstanding(0));
        assert_eq!(left, if forgets { (false, false, 0) } else { (true, true, 1) });
    }
}
