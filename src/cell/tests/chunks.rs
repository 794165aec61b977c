//! Chunked prefill: offsets, partial pages, and what is sent when.

use super::kit::{Bench, HANDSHAKE, TO_PREFILL, WORKER, land, newest, oldest, scope, without};
use crate::cell::{Poll, PrefillStage, Step, Switch};
use crate::platform::Shared;

const CHUNKED: &str = "chunk = 2\nrequests = [{ prompt = 5, max_new = 1 }]";

#[test]
fn each_chunk_starts_where_the_last_one_ended_and_the_last_one_carries_the_row() {
    let mut bench = Bench::new(newest(), scope(CHUNKED));
    bench.take(HANDSHAKE).take([Step::Prefill]);
    assert_eq!(bench.chunks(0), [], "the ordinary loop sends a chunk when it makes the next batch");
    assert_eq!(bench.prefill_stage(0), Some(PrefillStage::Waiting));
    assert_eq!(bench.lines()[1..], ["PrefillAlloc: A gets p0 page 0..1", "PrefillForward: A writes p0 page 0..2"]);
    bench.take([Step::Prefill]);
    assert_eq!(bench.chunks(0), [(0, 2, 2, false)]);
    let forward = ["PrefillForward: A reads p0 page 0..2", "PrefillForward: A writes p0 page 2..4"];
    assert_eq!(bench.lines(), ["PrefillAlloc: A gets p0 page 1..2", forward[0], forward[1]]);
    bench.take([Step::Prefill]);
    assert_eq!(bench.chunks(0), [(0, 2, 2, false), (1, 2, 4, false), (2, 1, 5, true)]);
    assert_eq!(bench.prefill_stage(0), Some(PrefillStage::Inflight));
}

#[test]
fn the_last_page_is_sent_as_far_as_it_is_filled() {
    let mut bench = Bench::new(newest(), scope(CHUNKED));
    bench.take(HANDSHAKE).take([Step::Prefill, Step::Prefill, Step::Prefill]);
    bench.take([WORKER, land(0), WORKER, WORKER, land(0), WORKER, WORKER]);
    assert_eq!(bench.lines().last().unwrap(), "WorkerPost: A posts 0 from p0 page 4..5 to d0 page 4..5");
}

#[test]
fn only_the_last_chunk_ends_the_room() {
    let known = |bench: &Bench| bench.prefill_rank(0).infos.with(|infos| infos.get(bench.key(0)).is_some());
    let mut bench = Bench::new(newest(), scope(CHUNKED));
    bench.take(HANDSHAKE).take([Step::Prefill, Step::Prefill, WORKER]);
    assert_eq!(bench.outstanding(0), 1);
    bench.take([land(0), WORKER]);
    assert_eq!(bench.outstanding(0), 0);
    assert!(!bench.enabled(WORKER), "nothing is queued");
    assert!(known(&bench), "the destination is needed for the next chunk");
    bench.take([Step::Prefill, WORKER, land(0), WORKER, WORKER, land(0), WORKER, land(0), WORKER]);
    assert_eq!(bench.prefill_room(0), Some(Poll::Success));
    assert!(!known(&bench), "and not after the last one");
}

#[test]
fn a_counter_that_is_back_at_zero_is_dropped() {
    let bench = Bench::new(newest(), scope(""));
    let (shared, key) = (bench.prefill_rank(0), bench.key(0));
    let counted = || shared.outstanding.with(|outstanding| outstanding.get(key).copied());
    shared.count(key, 1);
    assert_eq!(counted(), Some(1));
    shared.count(key, -1);
    assert_eq!(counted(), None);
}

#[test]
fn a_destination_is_kept_while_a_chunk_is_in_a_workers_hands() {
    for (in_hand, kept) in [(1, true), (0, false)] {
        let mut bench = Bench::new(newest(), scope(""));
        bench.take(HANDSHAKE);
        let (shared, key) = (bench.prefill_rank(0), bench.key(0));
        shared.count(key, in_hand);
        shared.update_status(key, Poll::Failed, bench.serving.config());
        shared.tear_down(key, true);
        assert_eq!(shared.infos.with(|infos| infos.get(key).is_some()), kept, "{in_hand} in hand");
    }
}

#[test]
fn a_request_that_is_half_done_goes_first() {
    let two = "chunk = 2\nprefill_pages = 4\nrequests = [{ prompt = 4, max_new = 1 }, { prompt = 2, max_new = 1 }]";
    let mut bench = Bench::new(newest(), scope(two));
    bench.take([Step::Submit, Step::Submit, Step::Prefill, Step::Decode, TO_PREFILL, TO_PREFILL, Step::Prefill]);
    bench.take([Step::Prefill]);
    assert_eq!(
        bench.lines(),
        [
            "PrefillAlloc: A gets p0 page 1..2",
            "PrefillForward: A reads p0 page 0..2",
            "PrefillForward: A writes p0 page 2..4",
            "PrefillSetBuf: A writes p0 row 0..1",
        ]
    );
}

#[test]
fn a_younger_request_that_is_half_done_goes_before_an_older_one() {
    // The older one is a placeholder that leaves the grammar queue an iteration later.
    let two = "chunk = 2\nprefill_pages = 9\ndecode_pages = 9
requests = [{ prompt = 4, rejected = { by = \"grammar-invalid\" } }, { prompt = 4 }]";
    let mut bench = Bench::new(oldest(), scope(two));
    bench.take([Step::Submit, Step::Submit, Step::Decode, TO_PREFILL, TO_PREFILL, Step::Prefill]);
    assert_eq!((bench.prefill_stage(0), bench.at_prefill(1).unwrap().launched), (Some(PrefillStage::Grammar), 2));
    bench.take([Step::Prefill]);
    assert_eq!(
        (bench.prefill_stage(0), bench.prefill_stage(1)),
        (Some(PrefillStage::Waiting), Some(PrefillStage::Inflight))
    );
}

#[test]
fn a_forward_waits_for_pages() {
    let two = "prefill_pages = 2\nrequests = [{ prompt = 4, max_new = 1 }, { prompt = 2, max_new = 1 }]";
    let mut bench = Bench::new(newest(), scope(two));
    bench.take(HANDSHAKE).take(HANDSHAKE).take([Step::Prefill]);
    assert_eq!(
        (bench.prefill_stage(0), bench.prefill_stage(1)),
        (Some(PrefillStage::Inflight), Some(PrefillStage::Waiting))
    );
    assert!(!bench.enabled(Step::Prefill));
}

const OVERLAPPED: &str = "overlap = true\nchunk = 2\nrequests = [{ prompt = 6, max_new = 1 }]";

#[test]
fn the_overlapped_loop_launches_one_forward_ahead() {
    let mut bench = Bench::new(newest(), scope(OVERLAPPED));
    bench.take(HANDSHAKE).take([Step::Prefill, Step::Prefill]);
    assert_eq!(bench.at_prefill(0).unwrap().launched, 4);
    assert!(!bench.enabled(Step::Prefill), "two forwards are launched");
    bench.take([Step::ForwardEnds, Step::Prefill]);
    assert_eq!(bench.at_prefill(0).unwrap().launched, 6);
}

#[test]
fn what_is_launched_to_its_end_is_not_launched_again() {
    let mut bench = Bench::new(newest(), scope("overlap = true"));
    bench.take(HANDSHAKE).take([Step::Prefill]);
    assert!(!bench.enabled(Step::Prefill), "its one forward runs");
}

#[test]
fn the_overlapped_loop_handles_a_result_after_it_has_launched_the_next_forward() {
    let two = "overlap = true\nchunk = 2\nrequests = [{ prompt = 4, max_new = 1 }]";
    let mut bench = Bench::new(without(newest(), Switch::EarlySend), scope(two));
    bench.take(HANDSHAKE).take([Step::Prefill, Step::ForwardEnds, Step::Prefill]);
    assert_eq!((bench.at_prefill(0).unwrap().launched, bench.chunks(0)), (4, vec![]));
    bench.take([Step::Prefill]);
    assert_eq!(bench.chunks(0), [(0, 2, 2, false)]);
    assert_eq!(bench.prefill_stage(0), Some(PrefillStage::Forward), "its next forward runs");
}

#[test]
fn with_early_send_a_chunk_is_queued_while_its_forward_runs() {
    let mut bench = Bench::new(newest(), scope(OVERLAPPED));
    bench.take(HANDSHAKE).take([Step::Prefill, Step::Prefill]);
    assert_eq!(bench.chunks(0), [(0, 2, 2, false)]);
    let mut bench = Bench::new(without(newest(), Switch::EarlySend), scope(OVERLAPPED));
    bench.take(HANDSHAKE).take([Step::Prefill, Step::Prefill]);
    assert_eq!(bench.chunks(0), []);
}

#[test]
fn an_early_chunk_sends_no_page_that_was_reserved_for_the_next_one() {
    let mut bench = Bench::new(newest(), scope(OVERLAPPED));
    bench.take(HANDSHAKE).take([Step::Prefill, Step::Prefill, Step::ForwardEnds, Step::Prefill, Step::ForwardEnds]);
    bench.take([WORKER, land(0), WORKER]).take([WORKER]);
    assert_eq!(bench.lines(), ["WorkerPost: A posts 0 from p0 page 2..4 to d0 page 2..4"]);
    assert_eq!(bench.writes(), [(0, vec![(1, 1)], 2)]);
}

#[test]
fn the_worker_waits_for_the_forward_that_fills_an_early_chunk() {
    let mut bench = Bench::new(newest(), scope(OVERLAPPED));
    bench.take(HANDSHAKE).take([Step::Prefill, Step::Prefill]);
    assert!(!bench.enabled(WORKER));
    bench.take([Step::ForwardEnds]);
    assert!(bench.enabled(WORKER));
    let mut bench = Bench::new(without(newest(), Switch::EarlySendWaits), scope(OVERLAPPED));
    bench.take(HANDSHAKE).take([Step::Prefill, Step::Prefill]);
    assert!(bench.enabled(WORKER));
}

#[test]
fn an_aborted_request_keeps_its_pages_until_its_last_forward_ends() {
    let mut bench = Bench::new(newest(), scope(&format!("{OVERLAPPED}\nfaults = {{ aborts = 1 }}")));
    bench.take(HANDSHAKE).take([Step::Prefill, Step::Prefill, Step::Abort(0), Step::Prefill, Step::ForwardEnds]);
    bench.take([Step::Prefill]);
    assert_eq!(bench.prefill_stage(0), Some(PrefillStage::Forward));
    assert_eq!(bench.at_prefill(0).unwrap().launched, 4, "no third chunk is launched for it");
    bench.take([Step::ForwardEnds, Step::Prefill]);
    assert_eq!(bench.prefill_stage(0), None);
}

#[test]
fn before_0_5_20_an_aborted_chunked_request_is_computed_to_its_end() {
    let mut bench = Bench::new(oldest(), scope(&format!("{OVERLAPPED}\nfaults = {{ aborts = 1 }}")));
    bench.take(HANDSHAKE).take([Step::Prefill, Step::Prefill, Step::Abort(0), Step::Prefill, Step::ForwardEnds]);
    bench.take([Step::Prefill]);
    assert_eq!(bench.at_prefill(0).unwrap().launched, 6);
}
