//! What happened, as it was heard.

use super::messages::{Letter, letters, sent};
use crate::cell::{Actor, Config, DecodeStage, Lane, PrefillStage, Site, Step, Transfer};
use crate::explore::{DRAIN_BOUND, Moment, Protocol as _, Serving, ServingState, Signature, Tail, Walker, replay};
use crate::lifetime::{Event, OpId, Violation};
use crate::platform::Shared as _;
use std::ops::ControlFlow;

/// One step that did something, or one judgement at rest that found something.
pub(super) struct Beat {
    /// The step; absent when the state was judged at rest.
    pub(super) step: Option<Step>,
    /// What it told the oracle.
    pub(super) heard: Vec<(Site, Event)>,
    /// What it broke.
    pub(super) violations: Vec<Violation>,
    /// Which requests changed their queues: (request, prefill's side, from, to).
    pub(super) moves: Vec<Move>,
    /// The message that is delivered or lost.
    pub(super) letter: Option<Letter>,
    /// Messages that were sent.
    pub(super) sent: Vec<(Lane, Letter)>,
    /// The write that a step of the fabric concerns, as it was before.
    pub(super) write: Option<Transfer>,
}

/// A request that changes its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Move {
    pub(super) request: u8,
    pub(super) from: Option<&'static str>,
    pub(super) to: Option<&'static str>,
}

/// What the first run of the script shows.
enum Moved {
    Step(Step),
    Rest(Vec<Violation>),
}

/// Runs a script twice: once as everybody does, drain included, to see which steps are taken; then those steps with an
/// ear on each event, which the drain does not give.
pub(super) fn record(config: &Config, script: &[Step], show: Option<&Signature>) -> Vec<Beat> {
    let serving = Serving::new(config.clone());
    let mut moved = Vec::new();
    replay(&serving, script, Tail::Drain { bound: DRAIN_BOUND }, |moment| note(&mut moved, &moment, show));
    let mut state = serving.initial();
    moved.into_iter().filter_map(|moved| beat(&serving, &mut state, moved)).collect()
}

/// What one thread did before another one went on.
#[derive(Clone, Debug)]
pub struct Act {
    /// Who.
    pub actor: Actor,
    /// What it told the oracle.
    pub heard: Vec<(Site, Event)>,
    /// What it broke.
    pub violations: Vec<Violation>,
}

/// What a script led up to: its steps alone.
pub(super) fn lead_up(config: &Config, script: &[Step]) -> Vec<Beat> {
    let serving = Serving::new(config.clone());
    let mut state = serving.initial();
    script.iter().filter_map(|step| beat(&serving, &mut state, Moved::Step(*step))).collect()
}

/// The beat of a thread: the step that it would be if nobody could come in between.
pub(super) fn act(act: &Act) -> Beat {
    let op = act.heard.iter().find_map(|(_, event)| match event {
        Event::Land { op, .. } | Event::Settle { op } => Some(op.0 as u8),
        _ => None,
    });
    let op = op.unwrap_or_default();
    let step = match act.actor {
        Actor::Clients => Step::Submit,
        Actor::Abort(request) => Step::Abort(request),
        Actor::Disconnect(request) => Step::Disconnect(request),
        Actor::PrefillScheduler => Step::Prefill,
        Actor::Worker(rank) => Step::Worker(rank),
        Actor::BootstrapThread(rank) => Step::Deliver(Lane::ToPrefill { from: 0, to: rank }),
        Actor::DecodeScheduler => Step::Decode,
        Actor::DecodeThread(rank) => Step::Deliver(Lane::ToDecode { from: 0, to: rank }),
        Actor::Connection(lane) => Step::Deliver(lane),
        Actor::Heartbeat => Step::Heartbeat,
        Actor::Fabric | Actor::SecondRail => Step::Land { op, piece: 0 },
        Actor::Clock => Step::Elapse,
        Actor::TransferError => Step::TransferError(op),
        Actor::TransferTimeout => Step::TransferTimeout(op),
        Actor::Loss => Step::Lose(Lane::ToDecode { from: 0, to: 0 }),
    };
    Beat { step: Some(step), heard: act.heard.clone(), violations: act.violations.clone(), ..Beat::empty() }
}

/// The drain of `state`, up to where `show` is seen.
pub(super) fn drain(config: &Config, state: &ServingState, show: &Signature) -> Vec<Beat> {
    let serving = Serving::new(config.clone());
    let mut moved = Vec::new();
    Walker::at(&serving, state.clone()).drain(DRAIN_BOUND, |moment| note(&mut moved, &moment, Some(show)));
    let mut state = state.clone();
    moved.into_iter().filter_map(|moved| beat(&serving, &mut state, moved)).collect()
}

/// Notes a moment; breaks where `show` is seen.
fn note(moved: &mut Vec<Moved>, moment: &Moment<'_, Serving>, show: Option<&Signature>) -> ControlFlow<()> {
    match moment {
        Moment::Step { step, .. } => moved.push(Moved::Step(**step)),
        Moment::Rest { violations, .. } if !violations.is_empty() => moved.push(Moved::Rest(violations.to_vec())),
        Moment::Rest { .. } | Moment::Skipped { .. } => {}
    }
    let here = moment.violations().iter().any(|violation| Some(&Signature::from(violation)) == show);
    if here { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

impl Beat {
    const fn empty() -> Self {
        Self {
            step: None,
            heard: Vec::new(),
            violations: Vec::new(),
            moves: Vec::new(),
            letter: None,
            sent: Vec::new(),
            write: None,
        }
    }
}

/// Takes one step; nothing if it changed nothing.
fn beat(serving: &Serving, state: &mut ServingState, moved: Moved) -> Option<Beat> {
    let mut beat = Beat::empty();
    let step = match moved {
        Moved::Step(step) => step,
        Moved::Rest(violations) => return Some(Beat { violations, ..beat }),
    };
    let config = serving.config();
    let before = state.clone();
    let mail = letters(&before, config);
    let heard = &mut beat.heard;
    serving.apply_heard(state, step, &mut beat.violations, |site, event| heard.push((site, event.clone())));
    if beat.heard.is_empty() && beat.violations.is_empty() && *state == before {
        return None;
    }
    beat.step = Some(step);
    beat.moves = moves(&before, state, matches!(step, Step::Prefill | Step::ForwardEnds));
    if let Step::Deliver(lane) | Step::Lose(lane) = step {
        beat.letter = mail.iter().find(|(known, _)| *known == lane).and_then(|(_, letters)| letters.first().copied());
    }
    beat.sent = sent(&mail, &letters(state, config), step);
    if let Step::Land { op, .. } | Step::TransferError(op) | Step::TransferTimeout(op) = step {
        beat.write = before.cell.world.fabric.with(|fabric| fabric.get(OpId(u32::from(op))).cloned());
    }
    Some(beat)
}

/// Which requests changed their queue at the server that acted.
fn moves(before: &ServingState, after: &ServingState, prefill: bool) -> Vec<Move> {
    let stages = |state: &ServingState| -> Vec<(u8, &'static str)> {
        if prefill {
            state.cell.prefill.requests().iter().map(|entry| (entry.request, prefill_queue(entry.stage))).collect()
        } else {
            state.cell.decode.requests().iter().map(|entry| (entry.request, decode_queue(entry.stage))).collect()
        }
    };
    let (before, after) = (stages(before), stages(after));
    let of =
        |stages: &[(u8, &'static str)], request| stages.iter().find(|known| known.0 == request).map(|known| known.1);
    let mut requests: Vec<u8> = before.iter().chain(&after).map(|known| known.0).collect();
    requests.sort_unstable();
    requests.dedup();
    let moves =
        requests.into_iter().map(|request| Move { request, from: of(&before, request), to: of(&after, request) });
    moves.filter(|moved| moved.from != moved.to).collect()
}

const fn prefill_queue(stage: PrefillStage) -> &'static str {
    match stage {
        PrefillStage::Grammar => "grammar queue",
        PrefillStage::Bootstrap => "bootstrap queue",
        PrefillStage::Waiting => "waiting queue",
        PrefillStage::Forward => "running forward",
        PrefillStage::Inflight => "inflight queue",
        PrefillStage::Held => "held releases",
    }
}

const fn decode_queue(stage: DecodeStage) -> &'static str {
    match stage {
        DecodeStage::Grammar => "grammar queue",
        DecodeStage::Prealloc => "prealloc queue",
        DecodeStage::Transfer => "transfer queue",
        DecodeStage::Running => "running batch",
        DecodeStage::Held => "deferred releases",
    }
}
