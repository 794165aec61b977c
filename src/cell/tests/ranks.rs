//! Two ranks on a side: who must say what before something happens.

use super::kit::{Bench, WORKER, land, newest, oldest, preset, reference, scope, without};
use crate::cell::{DecodeStage, Lane, Poll, PrefillStage, Site, Step, Switch, Switches};
use crate::lifetime::{Event, Kind};
use crate::platform::Shared;

const fn to_prefill(from: u8, to: u8) -> Step {
    Step::Deliver(Lane::ToPrefill { from, to })
}

const fn to_decode(from: u8, to: u8) -> Step {
    Step::Deliver(Lane::ToDecode { from, to })
}

const FAN_IN: &str = "prefill_ranks = 2\nfaults = { aborts = 1, transfer_errors = 1 }\ntimers = { release = 1 }";
const FAN_OUT: &str = "decode_ranks = 2\nfaults = { aborts = 1 }\ntimers = { release = 1 }";

/// Two prefill ranks write to one decode rank; both have queued their chunk.
fn fan_in(switches: Switches) -> Bench {
    let mut bench = Bench::new(switches, scope(FAN_IN));
    bench.take([Step::Submit, Step::Prefill, Step::Decode, to_prefill(0, 0), to_prefill(0, 1), Step::Prefill]);
    bench
}

#[test]
fn each_worker_works_for_its_rank() {
    let bench = fan_in(newest());
    let workers = &bench.state.cell.workers;
    assert_eq!([workers[0].rank(), workers[1].rank()], [0, 1]);
}

#[test]
fn each_rank_names_its_metadata_messages_apart_as_long_as_they_are_on_their_way() {
    let two = "prefill_ranks = 2\naux_by_message = true\nrequests = [{ prompt = 2 }, { prompt = 2 }]";
    let mut bench = Bench::new(newest(), scope(two));
    bench.take([Step::Submit, Step::Submit, Step::Prefill, Step::Decode]);
    bench.take([to_prefill(0, 0), to_prefill(0, 0), to_prefill(0, 1), to_prefill(0, 1), Step::Prefill, Step::Prefill]);
    let send = |rank| [Step::Worker(rank), land(0), Step::Worker(rank)];
    let named = |bench: &mut Bench, rank| {
        bench.take(send(rank));
        let posted = bench.heard.iter().find_map(|(site, event)| match event {
            Event::Post { op, .. } if *site == Site::WorkerPostAux => Some(op.0),
            _ => None,
        });
        posted.unwrap()
    };
    assert_eq!([named(&mut bench, 0), named(&mut bench, 0)], [64, 65], "the first one has not arrived");
    assert_eq!([named(&mut bench, 1), named(&mut bench, 1)], [128, 129]);
}

#[test]
fn both_prefill_ranks_must_know_the_destination() {
    let mut bench = Bench::new(newest(), scope(FAN_IN));
    bench.take([Step::Submit, Step::Prefill, Step::Decode, to_prefill(0, 0)]);
    assert!(!bench.enabled(Step::Prefill), "MIN of WaitingForInput and Bootstrapping");
    bench.take([to_prefill(0, 1)]);
    assert!(bench.enabled(Step::Prefill));
}

#[test]
fn decodes_room_is_success_once_every_prefill_rank_has_said_so() {
    let mut bench = fan_in(newest());
    bench.take([WORKER, land(0), WORKER, land(0), WORKER, to_decode(0, 0)]);
    assert_eq!(bench.decode_room(0), Some(Poll::WaitingForInput));
    assert!(!bench.enabled(Step::Decode));
    assert!(!bench.enabled(Step::Prefill), "MIN of Success and WaitingForInput");
    bench.take([Step::Worker(1), land(0), Step::Worker(1), land(0), Step::Worker(1), to_decode(1, 0)]);
    assert_eq!(bench.decode_room(0), Some(Poll::Success));
    bench.take([Step::Prefill, Step::Decode]);
    assert_eq!(bench.prefill_stage(0), None);
}

#[test]
fn a_repeated_status_of_one_rank_counts_once() {
    let mut bench = fan_in(newest());
    bench.take([WORKER, land(0), WORKER, land(0), WORKER]);
    let status = crate::cell::ToDecode::Status { key: bench.key(0), rank: 0, failure: None };
    bench.state.cell.world.to_decode(0, 0).with(|queue| queue.push(status));
    bench.take([to_decode(0, 0), to_decode(0, 0)]);
    assert_eq!(bench.decode_room(0), Some(Poll::WaitingForInput));
}

#[test]
fn one_failed_prefill_rank_fails_all() {
    let mut bench = fan_in(newest());
    bench.take([WORKER, land(0), WORKER, land(0), WORKER]);
    bench.take([Step::Worker(1), Step::TransferError(0), Step::Worker(1), to_decode(1, 0)]);
    assert_eq!(bench.decode_room(0), Some(Poll::Failed));
    bench.take([Step::Prefill]);
    assert_eq!((bench.prefill_stage(0), bench.prefill_room(0)), (None, None));
}

#[test]
fn a_prefill_rank_waits_for_both_decode_ranks() {
    let mut bench = Bench::new(newest(), scope(FAN_OUT));
    bench.take([Step::Submit, Step::Prefill, Step::Decode, to_prefill(0, 0)]);
    assert_eq!(bench.prefill_room(0), Some(Poll::Bootstrapping));
    bench.take([to_prefill(1, 0)]);
    assert_eq!(bench.prefill_room(0), Some(Poll::WaitingForInput));
}

/// One prefill rank writes to two decode ranks; its chunk is queued.
fn fan_out(switches: Switches) -> Bench {
    let mut bench = Bench::new(switches, scope(FAN_OUT));
    bench.take([Step::Submit, Step::Prefill, Step::Decode, to_prefill(0, 0), to_prefill(1, 0), Step::Prefill]);
    bench
}

#[test]
fn a_worker_serves_one_decode_rank_after_the_other_and_then_tells_both() {
    let mut bench = fan_out(newest());
    bench.take([WORKER]);
    assert_eq!(bench.lines(), ["WorkerPost: A posts 0 from p0 page 0..4 to d0 page 0..4"]);
    bench.take([land(0), WORKER, land(0), WORKER]);
    assert_eq!(bench.lines().last().unwrap(), "WorkerPost: A posts 0 from p0 page 0..4 to d1 page 0..4");
    bench.take([land(0), WORKER, land(0)]);
    assert!(!bench.enabled(to_decode(0, 0)), "no peer is told before the last is served");
    bench.take([WORKER, to_decode(0, 0)]);
    assert!(!bench.enabled(Step::Decode), "MIN of Success and WaitingForInput");
    bench.take([to_decode(0, 1)]);
    assert!(bench.enabled(Step::Decode));
}

#[test]
fn a_failure_is_told_to_every_decode_rank_from_0_5_20_on() {
    let errors = format!("{}\n", FAN_OUT.replace("aborts = 1", "transfer_errors = 1"));
    for (switches, told) in [(preset("sglang-0.5.20"), true), (oldest(), false)] {
        let mut bench = Bench::new(switches, scope(&errors));
        bench.take([Step::Submit, Step::Prefill, Step::Decode, to_prefill(0, 0), to_prefill(1, 0), Step::Prefill]);
        bench.take([WORKER, Step::TransferError(0), WORKER]);
        assert!(bench.enabled(to_decode(0, 0)), "the peer that was being served");
        assert_eq!(bench.enabled(to_decode(0, 1)), told);
    }
}

/// Both decode ranks hold; only rank 0 has its acknowledgement.
fn half_acknowledged(switches: Switches) -> Bench {
    let mut bench = fan_out(switches);
    bench.take([Step::Abort(0), Step::Decode, to_prefill(0, 0), to_decode(0, 0)]);
    assert_eq!(bench.decode_stage(0), Some(DecodeStage::Held));
    bench
}

#[test]
fn with_agreement_no_rank_releases_before_all_may() {
    let mut bench = half_acknowledged(newest());
    assert!(!bench.enabled(Step::Decode));
    bench.take([to_prefill(1, 0), to_decode(0, 1), Step::Decode]);
    assert_eq!(bench.decode_stage(0), None);
}

#[test]
fn without_agreement_ranks_release_alone_and_come_apart_over_the_next_request() {
    let two = FAN_OUT.to_owned()
        + "\ndecode_pages = 2\nrequests = [{ prompt = 4, max_new = 1 }, { prompt = 4, max_new = 1 }]";
    let mut bench = Bench::new(without(newest(), Switch::TpAgreement), scope(&two));
    bench.take([Step::Submit, Step::Prefill, Step::Decode, to_prefill(0, 0), to_prefill(1, 0), Step::Prefill]);
    bench.take([Step::Abort(0), Step::Decode, to_prefill(0, 0), to_decode(0, 0), Step::Submit, Step::Decode]);
    assert_eq!((bench.decode_pages(0, 0), bench.decode_pages(0, 1)), (None, Some(vec![(0, 2)])));
    assert_eq!(bench.found, [Kind::Divergence]);
    assert!(bench.state.cell.decode.crashed() && !bench.enabled(Step::Decode));
}

#[test]
fn in_pairs_each_rank_talks_to_its_own() {
    let pairs = "prefill_ranks = 2\ndecode_ranks = 2";
    let mut bench = Bench::new(newest(), scope(pairs));
    bench.take([Step::Submit, Step::Prefill, Step::Decode]);
    assert!(bench.enabled(to_prefill(0, 0)) && bench.enabled(to_prefill(1, 1)));
    assert!(!bench.enabled(to_prefill(0, 1)) && !bench.enabled(to_prefill(1, 0)));
    bench.take([to_prefill(0, 0), to_prefill(1, 1), Step::Prefill, Step::Worker(1)]);
    assert_eq!(bench.prefill_stage(0), Some(PrefillStage::Inflight));
    assert_eq!(bench.lines().last().unwrap(), "WorkerPost: A posts 0 from p1 page 0..4 to d1 page 0..4");
}

#[test]
fn a_worker_does_not_wait_for_a_write_that_took_the_name_of_one_of_its_own() {
    let mut bench = Bench::new(newest(), scope("prefill_ranks = 2\ndecode_ranks = 2\nsiblings = 2"));
    bench.take([Step::Submit, Step::Prefill, Step::Decode, to_prefill(0, 0), to_prefill(1, 1), Step::Prefill]);
    bench.take([WORKER, land(0), land(1), WORKER, Step::Worker(1)]);
    let names: Vec<u32> = bench.writes().into_iter().map(|(name, ..)| name).collect();
    assert_eq!(names, [0, 1, 2], "the row of rank 0, and two writes of rank 1");
    bench.take([land(0)]);
    assert!(bench.enabled(WORKER));
}

#[test]
fn each_prefill_rank_acknowledges_for_itself() {
    let two = "prefill_ranks = 2\nfaults = { aborts = 1 }\ntimers = { release = 1 }";
    let mut bench = Bench::new(reference(), scope(two));
    bench.take([Step::Submit, Step::Prefill, Step::Decode, to_prefill(0, 0), to_prefill(0, 1), Step::Abort(0)]);
    bench.take([Step::Decode, to_prefill(0, 0), to_prefill(0, 1)]);
    let mut counted = Vec::new();
    for rank in [1, 0] {
        while bench.enabled(to_decode(rank, 0)) {
            bench.take([to_decode(rank, 0)]);
        }
        counted.push(bench.acks(0));
    }
    assert_eq!(counted, [1, 2]);
}
