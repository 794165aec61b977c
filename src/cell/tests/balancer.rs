//! Balancer policies: which leg answers, which legs are closed.

use super::kit::{Bench, HANDSHAKE, WORKER, land, newest, plus, scope};
use crate::cell::{Client, Leg, Step, Switch};
use crate::lifetime::Verdict;
use crate::platform::Shared;

fn bench(policy: &str, more: &str) -> Bench {
    Bench::new(newest(), scope(&format!("policy = '{policy}'\n{more}")))
}

const LEAVES: &str = "faults = { disconnects = 1, aborts = 1 }";

/// Whether prefill and decode have been told to abort.
fn told(bench: &Bench) -> (bool, bool) {
    let net = &bench.state.cell.world.net;
    use crate::platform::Shared;
    (net.prefill_http.with(|queue| !queue.is_empty()), net.decode_http.with(|queue| !queue.is_empty()))
}

#[test]
fn forward_closes_both_legs_of_a_client_that_leaves() {
    let mut bench = bench("forward", LEAVES);
    bench.take(HANDSHAKE).take([Step::Disconnect(0)]);
    assert_eq!(told(&bench), (true, true));
    assert_eq!(bench.answers(), [(0, Verdict::Aborted)]);
}

#[test]
fn hold_closes_only_the_leg_that_it_holds() {
    let mut held = bench("hold", LEAVES);
    held.take(HANDSHAKE).take([Step::Disconnect(0)]);
    assert_eq!(told(&held), (true, false));
    let mut later = bench("hold", LEAVES);
    later.take(HANDSHAKE).take([Step::Prefill, WORKER, land(0), WORKER, land(0), WORKER, Step::Prefill]);
    assert_eq!(later.legs(0), (Leg::Done(Verdict::Success), Leg::Open));
    later.take([Step::Disconnect(0)]);
    assert_eq!(told(&later), (false, true));
}

#[test]
fn an_explicit_abort_reaches_both_servers_under_every_policy() {
    for policy in ["forward", "hold", "hold-and-cancel"] {
        let mut bench = bench(policy, LEAVES);
        bench.take(HANDSHAKE).take([Step::Abort(0)]);
        assert_eq!(told(&bench), (true, true));
    }
}

fn refused(leg: &str) -> String {
    format!("requests = [{{ prompt = 4, max_new = 1, rejected = {{ by = 'session-missing', legs = '{leg}' }} }}]")
}

#[test]
fn a_prefill_error_is_the_answer_only_where_the_prefill_leg_is_held() {
    for (policy, client, cancels) in
        [("forward", Client::Waiting, false), ("hold", Client::Done, false), ("hold-and-cancel", Client::Done, true)]
    {
        let mut bench = bench(policy, &refused("prefill"));
        bench.take([Step::Submit, Step::Decode, Step::Prefill]);
        assert_eq!(bench.client(0), client);
        assert_eq!(told(&bench), (false, cancels));
    }
}

#[test]
fn a_decode_error_cancels_prefill_only_with_hold_and_cancel() {
    for (policy, cancels) in [("forward", false), ("hold", false), ("hold-and-cancel", true)] {
        let mut bench = bench(policy, &refused("decode"));
        bench.take([Step::Submit, Step::Prefill, Step::Decode]);
        assert_eq!(bench.answers(), [(0, Verdict::Rejected)]);
        assert_eq!(told(&bench), (cancels, false));
    }
}

#[test]
fn an_answered_client_is_answered_once() {
    let mut bench = bench("hold", &refused("both"));
    bench.take([Step::Submit, Step::Prefill]);
    assert_eq!(bench.answers(), [(0, Verdict::Rejected)]);
    bench.take([Step::Decode]);
    assert_eq!(bench.answers(), []);
    assert_eq!(bench.legs(0), (Leg::Done(Verdict::Rejected), Leg::Done(Verdict::Rejected)));
}

#[test]
fn a_refusal_of_prefill_is_the_answer_to_a_failure_of_decode_with_sticky_reason() {
    let timers = "timers = { waiting = 1 }";
    for (switches, verdict) in [(newest(), Verdict::Failed), (plus(newest(), Switch::StickyReason), Verdict::Rejected)]
    {
        let mut bench = Bench::new(switches, scope(&format!("{timers}\n{}", refused("prefill"))));
        bench.take([Step::Submit, Step::Prefill, Step::Decode, Step::Elapse, Step::Decode]);
        assert_eq!(bench.answers(), [(0, verdict)]);
    }
}

#[test]
fn a_failure_of_decode_is_the_answer_where_prefill_has_refused_nothing() {
    let open = "timers = { waiting = 1 }";
    let mut bench = Bench::new(plus(newest(), Switch::StickyReason), scope(open));
    bench.take([Step::Submit, Step::Decode, Step::Elapse, Step::Decode]);
    assert_eq!(bench.answers(), [(0, Verdict::Failed)]);
}

#[test]
fn all_is_done_when_no_client_waits_or_is_still_to_come() {
    let mut bench = bench("hold", &refused("both"));
    let done = |bench: &Bench| bench.state.cell.world.balancer.with(|balancer| balancer.all_done());
    assert!(!done(&bench), "still to come");
    bench.take([Step::Submit]);
    assert!(!done(&bench), "waits");
    bench.take([Step::Prefill]);
    assert!(done(&bench));
}

#[test]
fn requests_are_sent_in_the_order_of_the_scope() {
    let mut bench = bench("forward", "requests = [{ prompt = 2 }, { prompt = 2 }]");
    assert!(!bench.enabled(Step::Abort(0)));
    bench.take([Step::Submit]);
    assert_eq!((bench.client(0), bench.client(1)), (Client::Waiting, Client::Unsent));
    bench.take([Step::Submit]);
    assert!(!bench.enabled(Step::Submit));
}
