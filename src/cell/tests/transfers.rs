//! Writes and what their initiator is told: timeouts, errors, retries, early completions.

use super::kit::{Bench, HANDSHAKE, TO_DECODE, WORKER, land, newest, oldest, plus, scope};
use crate::cell::{Poll, Step, Switch};
use crate::lifetime::OpId;
use crate::platform::Shared;

const TIMEOUTS: &str = "faults = { transfer_timeouts = 2, transfer_errors = 1 }";

fn posted(switches: crate::cell::Switches, more: &str) -> Bench {
    let mut bench = Bench::new(switches, scope(&format!("{TIMEOUTS}\n{more}")));
    bench.take(HANDSHAKE).take([Step::Prefill, WORKER]);
    bench
}

#[test]
fn a_timeout_fails_the_room_and_leaves_the_write_live() {
    let mut bench = posted(newest(), "");
    bench.take([Step::TransferTimeout(0)]);
    assert!(!bench.enabled(Step::TransferTimeout(0)), "told once");
    bench.take([WORKER]);
    assert_eq!(bench.prefill_room(0), Some(Poll::Failed));
    assert!(bench.enabled(land(0)));
    bench.take([TO_DECODE]);
    assert_eq!(bench.decode_room(0), Some(Poll::Failed));
}

#[test]
fn an_error_ends_the_write() {
    let mut bench = posted(newest(), "");
    bench.take([Step::TransferError(0)]);
    assert_eq!(bench.lines(), ["Settled: 0 settles"]);
    assert!(!bench.enabled(land(0)));
    bench.take([WORKER]);
    assert_eq!((bench.prefill_room(0), bench.writes()), (Some(Poll::Failed), vec![]));
}

#[test]
fn a_write_of_few_pages_is_bounded() {
    assert!(!posted(newest(), "slow_pages = 2").enabled(Step::TransferTimeout(0)));
    assert!(posted(newest(), "slow_pages = 1").enabled(Step::TransferTimeout(0)));
}

#[test]
fn a_retry_leaves_the_first_attempt_live() {
    let mut bench = posted(newest(), "retries = 1");
    bench.take([Step::TransferTimeout(0), WORKER]);
    assert_eq!(bench.lines().last().unwrap(), "WorkerRetry: A posts 1 from p0 page 0..4 to d0 page 0..4");
    assert!(bench.enabled(land(0)) && bench.enabled(land(1)));
    bench.take([land(1), WORKER]);
    assert_eq!(bench.prefill_room(0), Some(Poll::WaitingForInput), "the retry was enough");
    assert!(bench.enabled(land(0)));
}

#[test]
fn a_retry_lands_every_piece_anew() {
    let mut bench = posted(newest(), "retries = 1\nslices = 2");
    bench.take([land(0), Step::TransferTimeout(0), WORKER]);
    assert!(!bench.enabled(land(0)), "this piece of the first attempt has landed");
    assert!(bench.enabled(land(1)) && bench.enabled(Step::Land { op: 1, piece: 1 }));
}

#[test]
fn a_retry_is_landed_by_no_card_yet() {
    let mut bench = posted(newest(), "retries = 1");
    bench.state.cell.world.fabric.with(|fabric| fabric.get_mut(OpId(0)).unwrap().landing = 1);
    bench.take([Step::TransferTimeout(0), WORKER]);
    let landing =
        bench.state.cell.world.fabric.with(|fabric| fabric.iter().map(|write| write.landing).collect::<Vec<_>>());
    assert_eq!(landing, [1, 0], "a card is at the first attempt");
}

#[test]
fn a_retry_waits_until_the_first_attempt_has_settled() {
    let mut bench = posted(plus(newest(), Switch::RetryAfterSettle), "retries = 1");
    bench.take([Step::TransferTimeout(0)]);
    assert!(!bench.enabled(WORKER));
    bench.take([land(0), WORKER]);
    assert_eq!(bench.lines().last().unwrap(), "WorkerRetry: A posts 1 from p0 page 0..4 to d0 page 0..4");
}

#[test]
fn the_transport_gives_up_after_its_last_retry() {
    let mut bench = posted(newest(), "retries = 1");
    bench.take([Step::TransferTimeout(0), WORKER, Step::TransferTimeout(1), WORKER]);
    assert_eq!(bench.prefill_room(0), Some(Poll::Failed));
    assert!(bench.enabled(land(0)) && bench.enabled(land(1)));
}

#[test]
fn an_accepted_write_is_completed_before_it_lands() {
    let mut bench = posted(oldest(), "completion = 'accepted'");
    bench.take([WORKER, WORKER, TO_DECODE]);
    assert_eq!((bench.prefill_room(0), bench.decode_room(0)), (Some(Poll::Success), Some(Poll::Success)));
    assert!(bench.enabled(land(0)) && bench.enabled(land(1)));
    assert!(!bench.enabled(Step::TransferTimeout(0)) && !bench.enabled(Step::TransferError(0)));
}

#[test]
fn a_name_is_used_again_once_its_write_is_forgotten() {
    let mut bench = posted(newest(), "");
    assert_eq!(bench.writes()[0].0, 0);
    bench.take([land(0), WORKER]);
    assert_eq!(bench.writes(), [(0, vec![(0, 1)], 1)]);
}
