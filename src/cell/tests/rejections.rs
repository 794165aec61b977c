//! Every shape of a rejection, on each side, with the door and without.

use super::kit::{Bench, HANDSHAKE, TO_DECODE, TO_PREFILL, newest, oldest, plus, preset, scope, without};
use crate::cell::{DecodeStage, Leg, Poll, PrefillStage, Producer, Shape, Site, Step, Switch, Switches};
use crate::lifetime::{Kind, Verdict};

/// A bench whose one request is refused by `producer` on `legs`.
fn refused_by(producer: &str, legs: &str, switches: Switches) -> Bench {
    let requests =
        format!("requests = [{{ prompt = 4, max_new = 2, rejected = {{ by = '{producer}', legs = '{legs}' }} }}]");
    Bench::new(switches, scope(&requests))
}

fn at_prefill(producer: &str, switches: Switches) -> Bench {
    let mut bench = refused_by(producer, "prefill", switches);
    bench.take([Step::Submit, Step::Prefill]);
    bench
}

fn at_decode(producer: &str, switches: Switches) -> Bench {
    let mut bench = refused_by(producer, "decode", switches);
    bench.take([Step::Submit, Step::Decode]);
    bench
}

const REFUSED: Leg = Leg::Done(Verdict::Rejected);

#[test]
fn prefills_door_refuses_a_placeholder_and_decode_is_not_told() {
    let bench = at_prefill("session-missing", newest());
    assert_eq!((bench.prefill_stage(0), bench.prefill_room(0)), (None, None));
    assert_eq!(bench.legs(0), (REFUSED, Leg::Open));
    assert!(!bench.enabled(TO_DECODE));
}

#[test]
fn without_the_door_a_placeholder_of_one_token_bootstraps() {
    for switches in [oldest(), without(newest(), Switch::Door)] {
        let bench = at_prefill("session-missing", switches);
        let entry = bench.at_prefill(0).unwrap();
        assert_eq!((entry.stage, entry.prompt, entry.to_finish), (PrefillStage::Bootstrap, 1, Some(Verdict::Rejected)));
        assert_eq!(bench.prefill_room(0), Some(Poll::Bootstrapping));
        assert_eq!(bench.legs(0), (Leg::Open, Leg::Open));
    }
}

#[test]
fn without_a_check_after_the_forward_the_placeholder_is_sent() {
    let mut bench = refused_by("session-missing", "prefill", oldest());
    bench.take(HANDSHAKE).take([Step::Prefill]);
    assert_eq!(bench.prefill_stage(0), Some(PrefillStage::Inflight));
    assert_eq!(bench.chunks(0), [(0, 1, 1, true)]);
}

#[test]
fn the_check_after_the_forward_retires_the_placeholder_and_leaves_the_room_failed() {
    let mut bench = refused_by("session-missing", "prefill", preset("sglang-0.5.20"));
    bench.take(HANDSHAKE).take([Step::Prefill]);
    assert_eq!((bench.prefill_stage(0), bench.prefill_room(0)), (None, Some(Poll::Failed)));
    assert_eq!(bench.chunks(0), []);
    assert_eq!(bench.legs(0), (REFUSED, Leg::Open));
    assert_eq!(bench.sites().last(), Some(&Site::PrefillRetire));
    assert!(!bench.enabled(TO_DECODE));
}

#[test]
fn a_placeholder_comes_out_of_prefills_grammar_queue_an_iteration_later() {
    for (switches, then) in [(newest(), None), (oldest(), Some(PrefillStage::Bootstrap))] {
        let mut bench = at_prefill("grammar-invalid", switches);
        assert_eq!((bench.prefill_stage(0), bench.prefill_room(0)), (Some(PrefillStage::Grammar), None));
        bench.take([Step::Prefill]);
        assert_eq!(bench.prefill_stage(0), then);
    }
}

#[test]
fn an_immediate_refusal_never_reaches_prefills_queues() {
    for switches in [oldest(), newest()] {
        let bench = at_prefill("beam-search", switches);
        assert_eq!((bench.prefill_stage(0), bench.prefill_room(0)), (None, None));
        assert_eq!(bench.legs(0), (REFUSED, Leg::Open));
    }
}

#[test]
fn an_unmarked_refusal_passes_the_door() {
    let bench = at_prefill("embedding-unmarked", newest());
    let entry = bench.at_prefill(0).unwrap();
    assert_eq!((entry.stage, entry.prompt, entry.to_finish), (PrefillStage::Bootstrap, 4, None));
}

#[test]
fn an_unmarked_refusal_is_answered_as_a_success() {
    let mut bench = refused_by("embedding-unmarked", "prefill", newest());
    bench.take([Step::Submit]);
    assert!(bench.drain().contains(&Kind::FalseSuccess));
}

#[test]
fn a_result_refuses_after_the_forward() {
    let mut bench = refused_by("grammar-refuses-token", "prefill", newest());
    bench.take(HANDSHAKE).take([Step::Prefill]);
    assert_eq!(bench.prefill_stage(0), None);
    assert!(bench.sites().ends_with(&[Site::PrefillForward, Site::PrefillReject, Site::PrefillRetire]));
    let mut bench = refused_by("grammar-refuses-token", "prefill", without(newest(), Switch::PrefillAbortAfterForward));
    bench.take(HANDSHAKE).take([Step::Prefill]);
    let entry = bench.at_prefill(0).unwrap();
    assert_eq!((entry.stage, entry.to_finish), (PrefillStage::Inflight, Some(Verdict::Rejected)));
}

#[test]
fn decodes_door_refuses_a_placeholder_and_prefill_is_not_told() {
    let bench = at_decode("session-missing", newest());
    assert_eq!((bench.decode_stage(0), bench.decode_room(0)), (None, None));
    assert_eq!(bench.answers(), [(0, Verdict::Rejected)]);
    assert!(!bench.enabled(TO_PREFILL));
}

#[test]
fn without_the_door_decode_reserves_a_page_for_the_placeholder() {
    for switches in [oldest(), without(newest(), Switch::Door)] {
        let bench = at_decode("session-missing", switches);
        let entry = bench.at_decode(0).unwrap();
        assert_eq!((entry.stage, entry.prompt, entry.to_finish), (DecodeStage::Transfer, 1, Some(Verdict::Rejected)));
        assert_eq!(bench.decode_pages(0, 0), Some(vec![(0, 1)]));
    }
}

#[test]
fn a_placeholder_comes_out_of_decodes_grammar_queue_an_iteration_later() {
    for (switches, then) in [(newest(), None), (oldest(), Some(DecodeStage::Transfer))] {
        let mut bench = at_decode("grammar-invalid", switches);
        assert_eq!((bench.decode_stage(0), bench.decode_room(0)), (Some(DecodeStage::Grammar), None));
        bench.take([Step::Decode]);
        assert_eq!(bench.decode_stage(0), then);
    }
}

#[test]
fn an_immediate_refusal_never_reaches_decodes_queues() {
    for switches in [oldest(), newest()] {
        let bench = at_decode("beam-search", switches);
        assert_eq!((bench.decode_stage(0), bench.decode_room(0)), (None, None));
        assert_eq!(bench.answers(), [(0, Verdict::Rejected)]);
    }
}

#[test]
fn an_unmarked_refusal_passes_decodes_door() {
    let bench = at_decode("embedding-unmarked", newest());
    let entry = bench.at_decode(0).unwrap();
    assert_eq!((entry.stage, entry.prompt, entry.to_finish), (DecodeStage::Transfer, 4, None));
}

#[test]
fn what_only_prefills_result_can_show_is_no_concern_of_decode() {
    let bench = at_decode("grammar-refuses-token", newest());
    let entry = bench.at_decode(0).unwrap();
    assert_eq!((entry.stage, entry.prompt, entry.to_finish), (DecodeStage::Transfer, 4, None));
    assert_eq!(bench.sites(), [Site::Submit, Site::DecodeAlloc, Site::DecodeRow]);
}

#[test]
fn a_prompt_that_is_too_long_is_refused_though_its_result_would_refuse_it_too() {
    let long = "decode_pages = 4\nrequests = [{ prompt = 9, max_new = 1, rejected = { by = 'grammar-refuses-token', legs = 'both' } }]";
    let mut bench = Bench::new(newest(), scope(long));
    bench.take([Step::Submit, Step::Prefill]);
    assert_eq!(bench.lines(), ["Submit: A begins", "PrefillReject: A Rejected by rank 0 of 0"]);
    bench.take([Step::Decode]);
    assert_eq!(bench.lines(), ["DecodeReject: A Rejected by rank 0 of 1", "Answer: A is told Rejected, 0 tokens"]);
}

#[test]
fn a_prompt_that_is_too_long_too_is_refused_by_the_producer_that_comes_first() {
    let long = "requests = [{ prompt = 9, max_new = 1, rejected = { by = 'beam-search', legs = 'prefill' } }]";
    let mut bench = Bench::new(oldest(), scope(&format!("decode_pages = 5\n{long}")));
    bench.take([Step::Submit, Step::Prefill]);
    assert_eq!(bench.prefill_stage(0), None, "no placeholder is queued");
    assert_eq!(bench.legs(0).0, REFUSED);
}

#[test]
fn a_refused_result_is_decided_once() {
    for switches in [newest(), without(newest(), Switch::PrefillAbortAfterForward)] {
        let mut bench = refused_by("grammar-refuses-token", "prefill", switches);
        bench.take(HANDSHAKE).take([Step::Prefill]);
        let decided = bench.heard.iter().filter(|(site, _)| *site == Site::PrefillReject).count();
        assert_eq!(decided, 1);
    }
}

#[test]
fn with_notify_peer_each_door_tells_the_other_side() {
    let switches = plus(newest(), Switch::NotifyPeer);
    let mut bench = refused_by("session-missing", "prefill", switches);
    bench.take([Step::Submit, Step::Decode, TO_PREFILL, Step::Prefill]);
    assert!(bench.enabled(TO_DECODE), "the handshake was first: decode is told at once");
    let mut bench = refused_by("session-missing", "prefill", switches);
    bench.take([Step::Submit, Step::Prefill, Step::Decode]);
    assert!(!bench.enabled(TO_DECODE));
    bench.take([TO_PREFILL]);
    assert!(bench.enabled(TO_DECODE), "the handshake was late: it is answered");
    bench.take([TO_DECODE]);
    assert_eq!(bench.decode_room(0), Some(Poll::Failed));
    let mut bench = at_decode("session-missing", switches);
    bench.take([TO_PREFILL]);
    assert_eq!(bench.prefill_room(0), Some(Poll::Failed), "a tombstone");
    bench.take([Step::Prefill]);
    assert_eq!(bench.legs(0), (Leg::Done(Verdict::Failed), REFUSED));
}

#[test]
fn the_incident_happens_in_the_oldest_version_and_the_door_stops_it() {
    let incident = "page_size = 16\nprefill_pages = 7\ndecode_pages = 9\nrequests = [{ prompt = 128, max_new = 2 }]";
    let mut bench = Bench::new(oldest(), scope(incident));
    bench.take([Step::Submit]);
    let found = bench.drain();
    assert!(found.contains(&Kind::StaleRead) && found.contains(&Kind::FalseSuccess), "{found:?}");
    let mut bench = Bench::new(newest(), scope(&format!("{incident}\ntimers = {{ waiting = 1, release = 1 }}")));
    bench.take([Step::Submit]);
    let found = bench.drain();
    // Decode waits in vain and then answers a failure, which weakens the reason; nothing stale is read.
    assert!(!found.contains(&Kind::StaleRead), "{found:?}");
}

#[test]
fn producers_have_the_shapes_that_the_record_gives_them() {
    let of = |shape: Shape| {
        let has = |producer: &&Producer| producer.shape() == shape;
        Producer::ALL.iter().filter(has).map(|producer| producer.name()).collect::<Vec<_>>()
    };
    assert_eq!(of(Shape::Immediate), ["beam-search", "no-bootstrap-room", "sampling-mask"]);
    assert_eq!(of(Shape::Unmarked), ["embedding-unmarked"]);
    assert_eq!(of(Shape::AtResult), ["grammar-refuses-token"]);
    assert_eq!(of(Shape::PlaceholderFromGrammarQueue), ["grammar-invalid", "grammar-cancelled"]);
    assert!(of(Shape::Placeholder).contains(&"input-length"));
}
