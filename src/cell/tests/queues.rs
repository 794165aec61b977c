//! Prefill's queues: what wakes the loop, who is looked at before a batch is made, and what a failure leaves (P4 to P7).

use super::kit::{Bench, HANDSHAKE, TO_PREFILL, WORKER, land, newest, plus, scope};
use crate::cell::{Poll, PrefillStage, Site, Step, Switch};
use crate::lifetime::Verdict;

#[test]
fn a_request_whose_room_is_open_waits_for_a_metadata_row() {
    let one_row = "prefill_pages = 9\ndecode_pages = 9\nmetadata_rows = 2\nrequests = [{ prompt = 2 }, { prompt = 2 }]";
    let mut bench = Bench::new(newest(), scope(one_row));
    bench.take([Step::Submit, Step::Submit, Step::Prefill, Step::Decode, TO_PREFILL, TO_PREFILL]);
    // Somebody else has one of the two rows.
    bench.state.cell.prefill.rows[0].take(1).unwrap();
    assert!(bench.enabled(Step::Prefill), "there is a row for the first one");
    bench.take([Step::Prefill]);
    assert_eq!(
        (bench.prefill_stage(0), bench.prefill_stage(1)),
        (Some(PrefillStage::Inflight), Some(PrefillStage::Bootstrap))
    );
    assert!(!bench.enabled(Step::Prefill), "the second one's room is open, and there is no row");
}

#[test]
fn a_request_that_fails_between_two_chunks_is_computed_to_its_end() {
    let two = "chunk = 2\nfaults = { aborts = 1 }";
    let mut bench = Bench::new(newest(), scope(two));
    bench.take(HANDSHAKE).take([Step::Prefill]);
    assert_eq!(bench.prefill_stage(0), Some(PrefillStage::Waiting));
    let key = bench.key(0);
    bench.prefill_rank(0).update_status(key, Poll::Failed, bench.serving.config());
    bench.take([Step::Prefill]);
    assert!(bench.sites().contains(&Site::PrefillForward), "it is not in the waiting queue, and nobody looks");
    assert_eq!(bench.prefill_stage(0), Some(PrefillStage::Inflight));
    bench.take([Step::Prefill]);
    assert_eq!((bench.answers(), bench.sites()), (vec![], vec![Site::PrefillFailure]), "decided and released");
    assert_eq!(bench.prefill_stage(0), None);
}

const FULL: &str = "decode_pages = 2\nfaults = { aborts = 1 }
requests = [{ prompt = 4, max_new = 1 }, { prompt = 2, max_new = 1 }]";

#[test]
fn an_abort_that_comes_before_its_room_leaves_a_tombstone_only_with_notify_peer() {
    for (switches, left) in [(newest(), None), (plus(newest(), Switch::NotifyPeer), Some(Poll::Failed))] {
        let mut bench = Bench::new(switches, scope(FULL));
        bench.take([Step::Submit, Step::Submit, Step::Decode, TO_PREFILL]);
        // Request 1 waits for pages on decode: its handshake was never sent.
        bench.take([Step::Abort(1), Step::Decode, TO_PREFILL]);
        assert_eq!(bench.prefill_room(1), left);
    }
}

#[test]
fn with_notify_peer_a_failed_room_stays_and_one_that_succeeded_goes() {
    let switches = plus(newest(), Switch::NotifyPeer);
    let mut bench = Bench::new(switches, scope("faults = { transfer_errors = 1 }"));
    bench.take(HANDSHAKE).take([Step::Prefill, WORKER, land(0), WORKER, land(0), WORKER, Step::Prefill]);
    assert_eq!((bench.prefill_stage(0), bench.prefill_room(0)), (None, None));
    let mut bench = Bench::new(switches, scope("faults = { transfer_errors = 1 }"));
    bench.take(HANDSHAKE).take([Step::Prefill, WORKER, Step::TransferError(0), WORKER, Step::Prefill]);
    assert_eq!((bench.prefill_stage(0), bench.prefill_room(0)), (None, Some(Poll::Failed)));
    assert_eq!(bench.legs(0).0, crate::cell::Leg::Done(Verdict::Failed));
}
