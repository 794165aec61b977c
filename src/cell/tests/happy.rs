//! One request, nothing goes wrong: every event, in order.

use super::kit::{Bench, HANDSHAKE, TO_DECODE, TO_PREFILL, WORKER, land, newest, oldest, reference, scope};
use crate::cell::{Client, DecodeStage, Leg, Poll, PrefillStage, RowContent, Step};
use crate::lifetime::Verdict;

#[test]
fn the_handshake_opens_the_room_on_both_sides() {
    let mut bench = Bench::new(newest(), scope(""));
    bench.take([Step::Submit]);
    assert_eq!(bench.lines(), ["Submit: A begins"]);
    assert_eq!(bench.legs(0), (Leg::Open, Leg::Open));
    bench.take([Step::Prefill]);
    assert_eq!(bench.lines(), [""; 0]);
    assert_eq!(
        (bench.prefill_stage(0), bench.prefill_room(0)),
        (Some(PrefillStage::Bootstrap), Some(Poll::Bootstrapping))
    );
    bench.take([Step::Decode]);
    assert_eq!(bench.lines(), ["DecodeAlloc: A gets d0 page 0..2", "DecodeRow: A gets d0 row 0..1"]);
    assert_eq!(
        (bench.decode_stage(0), bench.decode_room(0)),
        (Some(DecodeStage::Transfer), Some(Poll::WaitingForInput))
    );
    bench.take([TO_PREFILL]);
    assert_eq!(bench.prefill_room(0), Some(Poll::WaitingForInput));
    assert!(!bench.enabled(TO_PREFILL) && !bench.enabled(TO_DECODE));
}

#[test]
fn the_forward_fills_pages_and_row_and_queues_one_last_chunk() {
    let mut bench = Bench::new(newest(), scope(""));
    bench.take(HANDSHAKE).take([Step::Prefill]);
    let expected = [
        "PrefillRow: A gets p0 row 0..1",
        "PrefillAlloc: A gets p0 page 0..2",
        "PrefillForward: A writes p0 page 0..4",
        "PrefillSetBuf: A writes p0 row 0..1",
    ];
    assert_eq!(bench.lines(), expected);
    assert_eq!(bench.prefill_stage(0), Some(PrefillStage::Inflight));
    assert_eq!(bench.chunks(0), [(0, 4, 4, true)]);
    assert_eq!(bench.outstanding(0), 0);
}

#[test]
fn the_worker_sends_the_pages_then_the_row_then_the_status() {
    let mut bench = Bench::new(newest(), scope(""));
    bench.take(HANDSHAKE).take([Step::Prefill]).take([WORKER]);
    assert_eq!(bench.lines(), ["WorkerPost: A posts 0 from p0 page 0..4 to d0 page 0..4"]);
    assert_eq!(bench.outstanding(0), 1);
    assert!(!bench.enabled(WORKER));
    bench.take([land(0)]);
    assert_eq!(bench.lines(), ["Land: 0 lands 0..4", "Settled: 0 settles"]);
    bench.take([WORKER]);
    assert_eq!(bench.lines(), ["WorkerPostAux: A posts 0 from p0 row 0..1 to d0 row 0..1"]);
    assert_eq!(bench.decode_row(0), RowContent::default());
    bench.take([land(0)]);
    assert_eq!(bench.decode_row(0), RowContent { room: 255, request: Some(0), covered: 4 });
    assert_eq!(bench.prefill_room(0), Some(Poll::WaitingForInput));
    bench.take([WORKER]);
    assert_eq!((bench.prefill_room(0), bench.outstanding(0)), (Some(Poll::Success), 0));
    assert_eq!(bench.decode_room(0), Some(Poll::WaitingForInput));
    bench.take([TO_DECODE]);
    assert_eq!(bench.decode_room(0), Some(Poll::Success));
}

/// Everything up to and with the arrival of the status at decode.
const DELIVERED: [Step; 7] = [Step::Prefill, WORKER, land(0), WORKER, land(0), WORKER, TO_DECODE];

#[test]
fn both_sides_release_and_the_client_is_answered() {
    let mut bench = Bench::new(newest(), scope(""));
    bench.take(HANDSHAKE).take(DELIVERED).take([Step::Prefill]);
    assert_eq!(bench.lines(), ["PrefillFinish: A frees p0 page 0..2", "PrefillFinish: A frees p0 row 0..1"]);
    assert_eq!((bench.prefill_stage(0), bench.prefill_room(0)), (None, None));
    assert_eq!(bench.legs(0), (Leg::Done(Verdict::Success), Leg::Open));
    bench.take([Step::Decode]);
    let expected = [
        "DecodeCommit: A reads d0 row 0..1",
        "DecodeCommitRow: A frees d0 row 0..1",
        "DecodeGrow: A gets d0 page 2..3",
        "DecodeStep: A reads d0 page 0..4",
        "DecodeStep: A writes d0 page 4..5",
        "DecodeFinish: A frees d0 page 0..3",
        "Answer: A is told Success, 4 tokens",
    ];
    assert_eq!(bench.lines(), expected);
    assert_eq!((bench.decode_stage(0), bench.decode_room(0), bench.client(0)), (None, None, Client::Done));
    assert_eq!(bench.found, []);
    assert_eq!(bench.drain(), []);
}

#[test]
fn a_request_of_one_token_ends_without_a_decode_step() {
    let mut bench = Bench::new(newest(), scope("requests = [{ prompt = 4, max_new = 1 }]"));
    bench.take(HANDSHAKE).take(DELIVERED).take([Step::Decode]);
    let expected = [
        "DecodeCommit: A reads d0 row 0..1",
        "DecodeCommitRow: A frees d0 row 0..1",
        "DecodeFinish: A frees d0 page 0..2",
        "Answer: A is told Success, 4 tokens",
    ];
    assert_eq!(bench.lines(), expected);
}

#[test]
fn a_token_takes_a_page_only_where_it_starts_one() {
    let mut bench = Bench::new(newest(), scope("requests = [{ prompt = 3, max_new = 3 }]"));
    bench.take(HANDSHAKE).take(DELIVERED).take([Step::Decode]);
    assert_eq!(bench.lines()[2..], ["DecodeStep: A reads d0 page 0..3", "DecodeStep: A writes d0 page 3..4"]);
    bench.take([Step::Decode]);
    let expected = [
        "DecodeGrow: A gets d0 page 2..3",
        "DecodeStep: A reads d0 page 0..4",
        "DecodeStep: A writes d0 page 4..5",
        "DecodeFinish: A frees d0 page 0..3",
        "Answer: A is told Success, 3 tokens",
    ];
    assert_eq!(bench.lines(), expected);
}

#[test]
fn the_youngest_request_is_dropped_when_the_batch_does_not_fit() {
    let two = "decode_pages = 4\nrequests = [{ prompt = 4, max_new = 3 }, { prompt = 4, max_new = 3 }]";
    let mut bench = Bench::new(newest(), scope(two));
    bench.take(HANDSHAKE).take(HANDSHAKE).take(DELIVERED).take([WORKER, land(0), WORKER, land(0), WORKER, TO_DECODE]);
    bench.take([Step::Decode]);
    let expected = [
        "DecodeCommit: A reads d0 row 0..1",
        "DecodeCommitRow: A frees d0 row 0..1",
        "DecodeCommit: B reads d0 row 1..2",
        "DecodeCommitRow: B frees d0 row 1..2",
        "DecodeOutOfMemory: B Failed by rank 0 of 1",
        "DecodeOutOfMemory: B frees d0 page 2..4",
        "Answer: B is told Failed, 4 tokens",
        "DecodeGrow: A gets d0 page 2..3",
        "DecodeStep: A reads d0 page 0..4",
        "DecodeStep: A writes d0 page 4..5",
    ];
    assert_eq!(bench.lines(), expected);
}

#[test]
fn every_version_takes_the_happy_path_without_a_violation() {
    for switches in [oldest(), newest(), reference()] {
        let mut bench = Bench::new(switches, scope(""));
        bench.take([Step::Submit]);
        assert_eq!(bench.drain(), []);
        assert_eq!(bench.legs(0), (Leg::Done(Verdict::Success), Leg::Done(Verdict::Success)));
    }
}

#[test]
fn requests_are_taken_in_order_and_wait_for_pages() {
    let two = "decode_pages = 3\nrequests = [{ prompt = 4, max_new = 1 }, { prompt = 2, max_new = 1 }, { prompt = 2, max_new = 1 }]";
    let mut bench = Bench::new(newest(), scope(two));
    bench.take([Step::Submit, Step::Submit, Step::Submit, Step::Decode]);
    assert_eq!(bench.decode_pages(0, 0), Some(vec![(0, 2)]));
    assert_eq!(bench.decode_pages(1, 0), Some(vec![(2, 1)]));
    assert_eq!(bench.decode_stage(2), Some(DecodeStage::Prealloc));
    assert!(!bench.enabled(Step::Decode));
}

#[test]
fn a_large_request_that_waits_blocks_a_small_one_behind_it() {
    let three = "decode_pages = 3\nrequests = [{ prompt = 4, max_new = 1 }, { prompt = 4, max_new = 1 }, { prompt = 2, max_new = 1 }]";
    let mut bench = Bench::new(newest(), scope(three));
    bench.take([Step::Submit, Step::Submit, Step::Submit, Step::Decode]);
    assert_eq!(bench.decode_stage(1), Some(DecodeStage::Prealloc));
    assert_eq!(bench.decode_stage(2), Some(DecodeStage::Prealloc));
    assert!(!bench.enabled(Step::Decode));
}
