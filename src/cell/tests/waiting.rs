//! Decode's prealloc queue: who is let in, who waits, and who is dropped (D0 to D8).

use super::kit::{Bench, HANDSHAKE, TO_PREFILL, WORKER, newest, plus, scope, without};
use crate::cell::{DecodeStage, Lane, Site, Step, Switch};
use crate::lifetime::Verdict;
use crate::platform::Shared;

#[test]
fn the_context_bounds_the_prompt_and_the_pool_bounds_both() {
    for (prompt, refused) in [(4, false), (5, true)] {
        let room = format!("context = 4\ndecode_pages = 9\nrequests = [{{ prompt = {prompt}, max_new = 1 }}]");
        let mut bench = Bench::new(newest(), scope(&room));
        bench.take([Step::Submit, Step::Decode]);
        assert_eq!(bench.sites().contains(&Site::DecodeReject), refused, "a prompt of {prompt}");
    }
}

#[test]
fn a_request_waits_for_a_row_as_it_waits_for_pages() {
    let one_row = "metadata_rows = 1\ndecode_pages = 9\nrequests = [{ prompt = 4 }, { prompt = 4 }]";
    let mut bench = Bench::new(newest(), scope(one_row));
    bench.take([Step::Submit, Step::Submit, Step::Decode]);
    assert_eq!(
        (bench.decode_stage(0), bench.decode_stage(1)),
        (Some(DecodeStage::Transfer), Some(DecodeStage::Prealloc))
    );
    assert!(!bench.enabled(Step::Decode), "there are pages, and no row");
}

const FULL: &str = "decode_pages = 2\ntimers = { prealloc = 1 }\nfaults = { aborts = 1 }
requests = [{ prompt = 4, max_new = 1 }, { prompt = 2, max_new = 1 }]";

/// How many messages are on their way to prefill.
fn messages(bench: &Bench) -> usize {
    bench.state.cell.world.waiting(Lane::ToPrefill { from: 0, to: 0 })
}

#[test]
fn prefill_is_told_of_a_request_that_is_dropped_only_with_notify_peer_and_once() {
    let base = plus(newest(), Switch::PreallocTimeout);
    for (switches, told) in [(base, 0), (plus(base, Switch::NotifyPeer), 1)] {
        let mut bench = Bench::new(switches, scope(FULL));
        bench.take([Step::Submit, Step::Submit, Step::Decode]);
        let before = messages(&bench);
        bench.take([Step::Elapse, Step::Decode]);
        assert_eq!(bench.answers(), [(1, Verdict::Failed)]);
        assert!(bench.sites().contains(&Site::DecodeReject), "it is decode that ends it");
        assert_eq!(messages(&bench) - before, told);
    }
    // A client that leaves: ABORT is sent when it does, and not again when the queue drops the request.
    for switches in [base, plus(base, Switch::NotifyPeer)] {
        let mut bench = Bench::new(switches, scope(FULL));
        bench.take([Step::Submit, Step::Submit, Step::Decode]);
        let before = messages(&bench);
        bench.take([Step::Abort(1), Step::Decode]);
        assert_eq!((bench.decode_stage(1), messages(&bench) - before), (None, 1));
        assert!(!bench.sites().contains(&Site::DecodeReject), "the client has ended it");
    }
}

#[test]
fn a_notification_that_was_sent_before_it_was_armed_is_armed_in_the_next_iteration() {
    let mut bench = Bench::new(without(newest(), Switch::ArmedBeforeSend), scope("faults = { aborts = 1 }"));
    let armed = |bench: &Bench| bench.decode_rank(0).armed.with(|armed| armed.get(bench.key(0)).is_some());
    bench.take(HANDSHAKE).take([Step::Prefill, WORKER, Step::Abort(0), Step::Decode]);
    assert!(bench.enabled(TO_PREFILL) && !armed(&bench), "ABORT is on its way");
    bench.take([Step::Decode]);
    assert!(armed(&bench));
}
