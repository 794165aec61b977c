//! Faults: each is on offer where it can strike, as often as the scope says, and only what the network or a machine did
//! excuses a wait.

use super::kit::{Bench, Deaf, HANDSHAKE, TO_PREFILL, WORKER, land, newest, plus, reference, scope, without};
use crate::cell::{DecodeStage, Lane, PrefillHealth, Step, Switch};
use crate::lifetime::Kind;

/// Whether the cell itself allows a step: [`Bench::enabled`] asks what it offers, which leaves out what no budget is for.
fn allows(bench: &Bench, step: Step) -> bool {
    bench.state.cell.enabled(step, bench.serving.config(), &mut Deaf)
}

const TWO: &str = "requests = [{ prompt = 4, max_new = 2 }, { prompt = 4, max_new = 2 }]";

#[test]
fn a_client_leaves_only_while_it_waits_and_as_often_as_the_budget_says() {
    for (budget, leave) in [("aborts", Step::Abort as fn(u8) -> Step), ("disconnects", Step::Disconnect)] {
        let mut bench = Bench::new(newest(), scope(&format!("faults = {{ {budget} = 1 }}\n{TWO}")));
        assert!(!bench.enabled(leave(0)) && !allows(&bench, leave(0)), "not sent yet");
        bench.take([Step::Submit, Step::Submit]);
        assert!(bench.enabled(leave(0)) && bench.enabled(leave(1)));
        assert!(!allows(&bench, leave(2)), "there is no such request");
        bench.take([leave(0)]);
        assert!(!bench.enabled(leave(1)) && !allows(&bench, leave(1)), "{budget}: the budget is spent");
    }
}

#[test]
fn what_has_a_budget_is_on_offer_though_nothing_else_has() {
    for (budget, strike) in [
        ("losses", Step::Lose(Lane::ToPrefill { from: 0, to: 0 })),
        ("transfer_errors", Step::TransferError(0)),
        ("transfer_timeouts", Step::TransferTimeout(0)),
    ] {
        let handshake = [Step::Submit, Step::Prefill, Step::Decode];
        let sent = [TO_PREFILL, Step::Prefill, WORKER];
        let mut bench = Bench::new(newest(), scope(&format!("faults = {{ {budget} = 1 }}\n{TWO}")));
        bench.take(handshake);
        if budget != "losses" {
            bench.take(sent);
        }
        assert!(bench.enabled(strike) && allows(&bench, strike), "{budget}");
        let none = Bench::new(newest(), scope(TWO));
        assert!(!allows(&none, strike), "{budget}: there is nothing to strike");
        let mut none = none;
        none.take(handshake);
        if budget != "losses" {
            none.take(sent);
        }
        assert!(!none.enabled(strike) && !allows(&none, strike), "{budget}: there is no budget");
        bench.take([strike]);
        assert!(!bench.enabled(strike) && !allows(&bench, strike), "{budget}: the budget is spent");
    }
}

#[test]
fn a_second_write_can_not_fail_when_the_budget_is_spent() {
    for (budget, strike) in
        [("transfer_errors", Step::TransferError as fn(u8) -> Step), ("transfer_timeouts", Step::TransferTimeout)]
    {
        let mut bench = Bench::new(newest(), scope(&format!("siblings = 2\nfaults = {{ {budget} = 1 }}")));
        bench.take(HANDSHAKE).take([Step::Prefill, WORKER]);
        assert!(allows(&bench, strike(0)) && allows(&bench, strike(1)));
        bench.take([strike(0)]);
        assert!(!allows(&bench, strike(1)), "{budget}");
    }
}

#[test]
fn a_second_message_can_not_be_lost_when_the_budget_is_spent() {
    let lose = Step::Lose(Lane::ToPrefill { from: 0, to: 0 });
    let mut bench = Bench::new(newest(), scope(&format!("faults = {{ losses = 1 }}\n{TWO}")));
    bench.take([Step::Submit, Step::Submit, Step::Decode, lose]);
    assert!(bench.enabled(TO_PREFILL) && !allows(&bench, lose));
}

#[test]
fn a_piece_lands_once_and_only_where_there_is_one() {
    let mut bench = Bench::new(newest(), scope("slices = 2"));
    bench.take(HANDSHAKE).take([Step::Prefill, WORKER]);
    let piece = |piece| Step::Land { op: 0, piece };
    assert!(allows(&bench, piece(0)) && allows(&bench, piece(1)) && !allows(&bench, piece(2)));
    assert!(!allows(&bench, Step::Land { op: 1, piece: 0 }), "there is no such write");
    bench.take([piece(0)]);
    assert!(!allows(&bench, piece(0)) && allows(&bench, piece(1)));
}

#[test]
fn what_is_dead_takes_no_step_and_hears_nothing_until_it_is_replaced() {
    let mut bench = Bench::new(newest(), scope("faults = { kills = 1 }"));
    assert!(!allows(&bench, Step::Heartbeat) && !allows(&bench, Step::ReplacePrefill));
    bench.take([Step::Submit, Step::Decode]);
    assert!(allows(&bench, Step::Prefill) && allows(&bench, TO_PREFILL));
    assert!(!allows(&bench, Step::ForwardEnds), "none runs");
    bench.take([Step::KillPrefill]);
    assert_eq!(bench.state.cell.health, PrefillHealth::Dead);
    assert!(!allows(&bench, Step::Prefill) && !allows(&bench, WORKER) && !allows(&bench, Step::KillPrefill));
    assert!(allows(&bench, Step::Heartbeat) && allows(&bench, Step::ReplacePrefill));
    bench.take([Step::ReplacePrefill]);
    assert!(!allows(&bench, Step::KillPrefill), "the budget is spent");
}

#[test]
fn a_lane_to_the_dead_carries_nothing_and_one_between_others_does() {
    let mut bench = Bench::new(newest(), scope("faults = { kills = 1 }"));
    bench.take(HANDSHAKE).take([Step::Prefill, WORKER, land(0), WORKER, land(0), WORKER]);
    let to_decode = Step::Deliver(Lane::ToDecode { from: 0, to: 0 });
    assert!(allows(&bench, to_decode));
    bench.take([Step::KillPrefill]);
    assert!(allows(&bench, to_decode), "what was sent before arrives");
    for (prefill, decode) in [(1, 0), (0, 1)] {
        assert!(!allows(&bench, Step::Deliver(Lane::ToDecode { from: prefill, to: decode })), "there is no such rank");
        assert!(!allows(&bench, Step::Deliver(Lane::ToPrefill { from: decode, to: prefill })), "there is no such rank");
    }
}

/// A wait that only a timer ends is stuck, unless the network or a machine made it; a client never does.
#[test]
fn only_the_network_and_machines_excuse_a_wait_for_a_timer() {
    let timers = "timers = { bootstrap = 1, waiting = 1, release = 1 }\npolicy = \"hold\"";
    let sent = [&HANDSHAKE[..], &[Step::Prefill, WORKER]].concat();
    let lost = [Step::Submit, Step::Decode, Step::Lose(Lane::ToPrefill { from: 0, to: 0 })];
    let gone = [Step::Submit, Step::Decode, Step::Disconnect(0)];
    let aborted = [Step::Submit, Step::Decode, Step::Prefill, Step::Abort(0)];
    for (budget, script, stuck) in [
        ("disconnects", gone.to_vec(), true),
        ("aborts", aborted.to_vec(), false),
        ("losses", lost.to_vec(), false),
        ("kills", [&sent[..], &[Step::KillPrefill]].concat(), false),
    ] {
        let mut bench = Bench::new(newest(), scope(&format!("{timers}\nfaults = {{ {budget} = 1 }}")));
        bench.take(script);
        assert_eq!(bench.drain().contains(&Kind::Stuck), stuck, "{budget}");
    }
}

#[test]
fn what_is_held_for_a_peer_that_lives_is_no_quarantine() {
    // A poisoned room is never acknowledged without `poison_recovers`, so the hold never ends.
    let held = "siblings = 2\nfaults = { transfer_errors = 1 }\ntimers = { waiting = 1, release = 1, prealloc = 1 }";
    let mut bench = Bench::new(without(reference(), Switch::PoisonRecovers), scope(held));
    bench.take(HANDSHAKE).take([Step::Prefill, WORKER, Step::TransferError(0), WORKER]);
    let found = bench.drain();
    assert_eq!(bench.decode_stage(0), Some(DecodeStage::Held), "{found:?}");
    assert!(found.contains(&Kind::Leak), "{found:?}");
}

#[test]
fn what_is_held_for_a_dead_peer_is_quarantined() {
    let held = "faults = { aborts = 1, kills = 1 }\ntimers = { waiting = 1, release = 1, prealloc = 1 }";
    let mut bench = Bench::new(plus(newest(), Switch::TimeoutHolds), scope(held));
    bench.take(HANDSHAKE).take([Step::Prefill, WORKER, Step::Abort(0), Step::Decode, Step::KillPrefill]);
    assert_eq!(bench.drain(), []);
    assert_eq!(bench.decode_stage(0), Some(DecodeStage::Held));
}
