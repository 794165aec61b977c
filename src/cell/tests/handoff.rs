//! What decode makes of what arrived: lengths, rooms, the metadata gate.

use super::kit::{
    AUX, Bench, HANDSHAKE, TO_DECODE, TO_PREFILL, WORKER, land, newest, oldest, plus, reference, scope, without,
};
use crate::cell::{DecodeStage, Poll, RowContent, Site, Step, Switch, Switches};
use crate::lifetime::{Kind, Verdict};
use crate::platform::Shared;

/// From a queued chunk to a status at decode.
const SENT: [Step; 6] = [WORKER, land(0), WORKER, land(0), WORKER, TO_DECODE];

fn planted(legs: &str) -> String {
    format!("requests = [{{ prompt = 4, max_new = 2, rejected = {{ by = 'session-missing', legs = '{legs}' }} }}]")
}

#[test]
fn a_destination_that_is_shorter_cuts_the_source_off() {
    let mut bench = Bench::new(oldest(), scope(&planted("decode")));
    bench.take(HANDSHAKE).take([Step::Prefill, WORKER]);
    assert_eq!(bench.writes(), [(0, vec![(0, 1)], 2)]);
}

#[test]
fn a_destination_that_is_longer_is_not_noticed() {
    let mut bench = Bench::new(oldest(), scope(&planted("prefill")));
    bench.take(HANDSHAKE).take([Step::Prefill, WORKER]);
    assert_eq!(bench.writes(), [(0, vec![(0, 1)], 1)]);
    bench.take([land(0), WORKER, land(0), WORKER, TO_DECODE, Step::Decode]);
    assert!(bench.sites().contains(&Site::DecodeCommit));
    assert!(bench.found.contains(&Kind::StaleRead), "{:?}", bench.found);
}

/// A design whose only guard against a placeholder is the length check.
fn only_length_check() -> Switches {
    without(without(without(reference(), Switch::Door), Switch::PrefillAbortAfterForward), Switch::StickyReason)
}

#[test]
fn the_length_check_refuses_a_handoff_that_covers_another_length() {
    let mut bench = Bench::new(only_length_check(), scope(&planted("prefill")));
    bench.take(HANDSHAKE).take([Step::Prefill]).take(SENT).take([Step::Decode]);
    assert_eq!(bench.answers(), [(0, Verdict::Failed)]);
    assert_eq!(bench.decode_stage(0), Some(DecodeStage::Held));
    assert!(!bench.found.contains(&Kind::StaleRead));
    let mut bench = Bench::new(without(only_length_check(), Switch::LengthCheck), scope(&planted("prefill")));
    bench.take(HANDSHAKE).take([Step::Prefill]).take(SENT).take([Step::Decode]);
    assert!(bench.found.contains(&Kind::StaleRead));
}

const BY_MESSAGE: &str = "aux_by_message = true";

#[test]
fn the_gate_holds_a_success_back_until_the_row_names_a_room() {
    let mut bench = Bench::new(newest(), scope(BY_MESSAGE));
    bench.take(HANDSHAKE).take([Step::Prefill, WORKER, land(0), WORKER, TO_DECODE]);
    assert_eq!((bench.decode_room(0), bench.decode_row(0).room), (Some(Poll::Success), 0));
    assert!(!bench.enabled(Step::Decode));
    bench.take([AUX]);
    assert_eq!(bench.decode_row(0), RowContent { room: 255, request: Some(0), covered: 4 });
    bench.take([Step::Decode]);
    assert_eq!(bench.answers(), [(0, Verdict::Success)]);
    assert_eq!(bench.found, []);
}

#[test]
fn without_the_gate_a_success_that_overtakes_its_metadata_is_a_corruption() {
    let mut bench = Bench::new(without(newest(), Switch::MetadataGate), scope(BY_MESSAGE));
    bench.take(HANDSHAKE).take([Step::Prefill, WORKER, land(0), WORKER, TO_DECODE, Step::Decode]);
    assert_eq!(bench.answers(), [(0, Verdict::Failed)]);
    assert!(bench.sites().contains(&Site::DecodeCorruption));
    assert_eq!(bench.decode_stage(0), None, "released at once");
}

#[test]
fn a_due_waiting_timer_does_not_end_a_gated_success() {
    let mut bench = Bench::new(newest(), scope("aux_by_message = true\ntimers = { waiting = 1 }"));
    bench.take(HANDSHAKE).take([Step::Prefill, WORKER, land(0), WORKER, TO_DECODE, Step::Elapse]);
    assert_eq!(bench.at_decode(0).unwrap().timer, Some(0));
    assert!(!bench.enabled(Step::Decode));
}

#[test]
fn the_gate_zeroes_the_row_when_it_is_freed() {
    for (switches, left) in [(newest(), 0), (without(newest(), Switch::MetadataGate), 255)] {
        let mut bench = Bench::new(switches, scope(""));
        bench.take(HANDSHAKE).take([Step::Prefill]).take(SENT).take([Step::Decode]);
        assert_eq!(bench.answers(), [(0, Verdict::Success)]);
        assert_eq!(bench.decode_row(0).room, left);
    }
}

#[test]
fn another_rooms_metadata_is_refused_and_the_pages_go_at_once() {
    let stranger = RowContent { room: 9, request: Some(0), covered: 4 };
    for (switches, refused) in [(newest(), true), (without(newest(), Switch::MetadataRoomCheck), false)] {
        let mut bench = Bench::new(switches, scope(""));
        bench.take(HANDSHAKE).take([Step::Prefill]).take(SENT);
        bench.decode_rank(0).rows.with(|rows| rows[0] = stranger);
        bench.take([Step::Decode]);
        assert_eq!(bench.sites().contains(&Site::DecodeCorruption), refused);
        assert_eq!(bench.answers(), [(0, if refused { Verdict::Failed } else { Verdict::Success })]);
    }
}

/// A's metadata is on its way when A is aborted; its row goes to B.
fn late_metadata(switches: Switches) -> Bench {
    let two = "aux_by_message = true\nmetadata_rows = 1\nfaults = { aborts = 1 }\n\
               requests = [{ prompt = 2, max_new = 2 }, { prompt = 2, max_new = 2 }]";
    let mut bench = Bench::new(switches, scope(two));
    bench.take(HANDSHAKE).take([Step::Prefill, WORKER, land(0), WORKER, Step::Abort(0), Step::Prefill, Step::Decode]);
    bench
}

#[test]
fn metadata_for_a_row_that_has_another_owner_is_dropped_only_when_it_is_validated() {
    for (switches, writes) in [(oldest(), true), (plus(oldest(), Switch::AuxValidated), false)] {
        let mut bench = late_metadata(switches);
        bench.take([Step::Submit, Step::Decode]);
        assert_eq!(bench.decode_stage(1), Some(DecodeStage::Transfer));
        bench.take([AUX]);
        assert_eq!(bench.decode_row(0).request, writes.then_some(0));
        assert_eq!(bench.found.contains(&Kind::WriteAfterFree), writes);
    }
}

#[test]
fn a_lost_metadata_message_lets_the_access_go() {
    let mut bench = Bench::new(newest(), scope("aux_by_message = true\nfaults = { losses = 1 }"));
    let Step::Deliver(lane) = AUX else { unreachable!() };
    bench.take(HANDSHAKE).take([Step::Prefill, WORKER, land(0), WORKER, Step::Lose(lane)]);
    assert_eq!(bench.lines().last().unwrap(), "LandAux: 64 settles");
    assert!(!bench.enabled(AUX));
    bench.take([TO_DECODE]);
    assert!(!bench.enabled(Step::Decode), "the gate waits without a timer");
    assert!(bench.drain().contains(&Kind::Stuck));
}

#[test]
fn metadata_messages_that_wait_have_names_of_their_own() {
    let requests = "requests = [{ prompt = 2, max_new = 1 }, { prompt = 2, max_new = 1 }, { prompt = 2, max_new = 1 }]";
    let mut bench = Bench::new(newest(), scope(&format!("aux_by_message = true\nmetadata_rows = 4\n{requests}")));
    for _ in 0..3 {
        bench.take(HANDSHAKE).take([Step::Prefill, WORKER, land(0), WORKER]);
    }
    let named =
        bench.state.cell.world.aux(0, 0).with(|queue| queue.iter().map(|message| message.op.0).collect::<Vec<_>>());
    assert_eq!(named, [64, 65, 66]);
}

#[test]
fn a_handshake_that_is_repeated_replaces_the_destination() {
    let mut bench = Bench::new(newest(), scope(""));
    bench.take(HANDSHAKE);
    let infos = bench.prefill_rank(0).infos.with(|infos| infos.get(bench.key(0)).cloned()).unwrap();
    bench.state.cell.world.to_prefill(0, 0).with(|queue| queue.push(crate::cell::ToPrefill::Info(infos[0].clone())));
    bench.take([TO_PREFILL]);
    assert_eq!(bench.prefill_rank(0).infos.with(|infos| infos.get(bench.key(0)).unwrap().len()), 1);
}
