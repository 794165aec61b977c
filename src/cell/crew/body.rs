//! What each actor does in a turn.

use super::{Actor, Ear, Shift, Stage};
use crate::cell::balancer::{self, Client};
use crate::cell::decode::{self, DecodeScheduler};
use crate::cell::fabric::Transfer;
use crate::cell::prefill::{self, PrefillScheduler, Worker};
use crate::cell::serving::{break_one, land, lose, time_out_one};
use crate::cell::step::lanes;
use crate::cell::world::{Ctx, Lane};
use crate::lifetime::OpId;
use crate::platform::{Shared, Threads};
use std::sync::Arc;
use std::sync::atomic::Ordering;

type Act<'a, P> = Ctx<'a, P, Ear<'a, P>>;

/// What a thread does next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    /// It did something.
    Again,
    /// It found nothing to do: others may go first.
    GiveWay,
    /// It is through.
    End,
}

/// What an actor owns while it works.
enum Tool {
    None,
    Prefill(PrefillScheduler),
    Decode(DecodeScheduler),
    Worker(Worker),
}

/// An actor at work on a thread.
pub(super) struct Body {
    thread: usize,
    shift: Shift,
    tool: Tool,
    /// How many ticks of the clock this scheduler has heard.
    heard: u8,
    /// Whether this listener last looked for metadata before anything else.
    metadata_first: bool,
}

impl Body {
    pub(super) const fn new(thread: usize, shift: Shift) -> Self {
        Self { thread, shift, tool: Tool::None, heard: 0, metadata_first: true }
    }

    /// The thread's work: turns until it is through, or out of turns.
    pub(super) fn on<P: Threads>(mut self, stage: &Arc<Stage<P>>) -> Box<dyn FnOnce() + Send>
    where
        Stage<P>: Send + Sync,
    {
        let stage = Arc::clone(stage);
        self.take_tool(&stage);
        Box::new(move || {
            let through = self.turns(&stage);
            self.give_tool(&stage);
            if matches!(self.shift.actor, Actor::PrefillScheduler | Actor::DecodeScheduler) {
                stage.ended.fetch_add(1, Ordering::SeqCst);
            }
            if !through {
                stage.judge().cut_short = true;
            }
        })
    }

    fn take_tool<P: Threads>(&mut self, stage: &Stage<P>) {
        let tools = stage.tools();
        self.tool = match self.shift.actor {
            Actor::PrefillScheduler => Tool::Prefill(tools.prefill.clone()),
            Actor::DecodeScheduler => Tool::Decode(tools.decode.clone()),
            Actor::Worker(rank) => Tool::Worker(tools.workers[usize::from(rank)].clone()),
            _ => Tool::None,
        };
    }

    fn give_tool<P: Threads>(&mut self, stage: &Stage<P>) {
        let mut tools = stage.tools();
        match std::mem::replace(&mut self.tool, Tool::None) {
            Tool::Prefill(scheduler) => tools.prefill = scheduler,
            Tool::Decode(scheduler) => tools.decode = scheduler,
            Tool::Worker(worker) => {
                let rank = usize::from(worker.rank());
                tools.workers[rank] = worker;
            }
            Tool::None => {}
        }
    }

    /// Returns whether the work was done before the turns ran out.
    fn turns<P: Threads>(&mut self, stage: &Stage<P>) -> bool {
        for turn in 1..=self.shift.turns {
            let mut ctx =
                Ctx { world: &stage.world, config: &stage.config, probe: &mut Ear { stage, thread: self.thread } };
            match self.turn(stage, &mut ctx) {
                Next::GiveWay if turn < self.shift.turns => P::give_way(),
                Next::Again | Next::GiveWay => {}
                Next::End => return true,
            }
        }
        self.shift.actor.is_fault()
    }

    fn turn<P: Threads>(&mut self, stage: &Stage<P>, ctx: &mut Act<'_, P>) -> Next {
        match (self.shift.actor, &mut self.tool) {
            (Actor::Clients, _) => clients(ctx),
            (Actor::Abort(request), _) => client_leaves(request, true, ctx),
            (Actor::Disconnect(request), _) => client_leaves(request, false, ctx),
            (Actor::PrefillScheduler, Tool::Prefill(scheduler)) => {
                (0..new_ticks(&mut self.heard, stage)).for_each(|_| scheduler.elapse());
                prefill_iteration(scheduler, stage, ctx)
            }
            (Actor::DecodeScheduler, Tool::Decode(scheduler)) => {
                (0..new_ticks(&mut self.heard, stage)).for_each(|_| scheduler.elapse());
                decode_iteration(scheduler, stage, ctx)
            }
            (Actor::Worker(_), Tool::Worker(worker)) => helper(stage, worker.step(ctx)),
            (Actor::BootstrapThread(rank), _) => helper(stage, listen_at_prefill(rank, stage, ctx)),
            (Actor::DecodeThread(rank), _) => {
                self.metadata_first = !self.metadata_first;
                helper(stage, listen_at_decode(rank, self.metadata_first, stage, ctx))
            }
            (Actor::Connection(lane), _) => helper(stage, stage.connections.bring(lane, ctx.world)),
            (Actor::Fabric, _) => helper(stage, land_one(ctx, |open| open.next())),
            (Actor::SecondRail, _) => helper(stage, land_one(ctx, |open| open.last())),
            (Actor::Clock, _) => {
                stage.ticks.with(|ticks| *ticks += 1);
                Next::GiveWay
            }
            (Actor::Heartbeat, _) => {
                decode::beat(ctx);
                Next::End
            }
            (fault, _) if strike(fault, ctx) => Next::End,
            _ => helper(stage, false),
        }
    }
}

/// A thread that serves the schedulers ends after them.
fn helper<P: Threads>(stage: &Stage<P>, acted: bool) -> Next {
    match acted {
        true => Next::Again,
        false if stage.schedulers_have_ended() => Next::End,
        false => Next::GiveWay,
    }
}

/// How often the clock has ticked since this scheduler last looked.
fn new_ticks<P: Threads>(heard: &mut u8, stage: &Stage<P>) -> u8 {
    if !stage.timed {
        return 0;
    }
    let now = stage.ticks.with(|ticks| *ticks);
    now - std::mem::replace(heard, now)
}

fn clients<P: Threads>(ctx: &mut Act<'_, P>) -> Next {
    let next = ctx.world.balancer.with(|balancer| balancer.next());
    let Some(request) = next else { return Next::End };
    balancer::submit(request, true, ctx);
    Next::Again
}

/// A client leaves once it waits, and not at all when it has been answered first.
fn client_leaves<P: Threads>(request: u8, explicit: bool, ctx: &mut Act<'_, P>) -> Next {
    match ctx.world.balancer.with(|balancer| balancer.pair(request).client) {
        Client::Unsent => return Next::GiveWay,
        Client::Waiting => balancer::leave(request, explicit, ctx),
        Client::Done => {}
    }
    Next::End
}

/// One iteration of the loop. The GPU ends its oldest forward when the loop has nothing to do but wait for it.
fn prefill_iteration<P: Threads>(scheduler: &mut PrefillScheduler, stage: &Stage<P>, ctx: &mut Act<'_, P>) -> Next {
    // Asked first: a request that comes later is not overlooked.
    let served = stage.served();
    if scheduler.forward_runs() && !scheduler.ready(ctx) {
        scheduler.end_forward(ctx);
    }
    scheduler.tick(ctx);
    after_iteration(served, scheduler.crashed(), scheduler.requests().is_empty())
}

fn decode_iteration<P: Threads>(scheduler: &mut DecodeScheduler, stage: &Stage<P>, ctx: &mut Act<'_, P>) -> Next {
    let served = stage.served();
    scheduler.tick(ctx);
    after_iteration(served, scheduler.crashed(), scheduler.requests().is_empty())
}

/// A scheduler goes on until nobody wants anything of it, or it has died.
const fn after_iteration(served: bool, crashed: bool, empty: bool) -> Next {
    if crashed || served && empty { Next::End } else { Next::GiveWay }
}

/// The bootstrap thread of a prefill rank takes a message of each decode rank in turn.
fn listen_at_prefill<P: Threads>(rank: u8, stage: &Stage<P>, ctx: &mut Act<'_, P>) -> bool {
    let mut acted = false;
    for from in 0..ctx.config.scope.decode_ranks {
        acted |= stage.connections.take(Lane::ToPrefill { from, to: rank }, || prefill::listen(rank, from, ctx));
    }
    acted
}

/// `decode_thread` of a decode rank takes a message of each prefill rank in turn. Metadata comes over connections of its
/// own: which is looked at first changes with each turn.
fn listen_at_decode<P: Threads>(rank: u8, metadata_first: bool, stage: &Stage<P>, ctx: &mut Act<'_, P>) -> bool {
    let mut acted = false;
    for from in 0..ctx.config.scope.prefill_ranks {
        let (control, metadata) = (Lane::ToDecode { from, to: rank }, Lane::Aux { from, to: rank });
        let lanes: &[Lane] = match (ctx.config.scope.aux_by_message, metadata_first) {
            (false, _) => &[control],
            (true, true) => &[metadata, control],
            (true, false) => &[control, metadata],
        };
        acted |= lanes.iter().any(|lane| {
            stage.connections.take(*lane, || match lane {
                Lane::Aux { .. } => decode::listen_aux(rank, from, ctx),
                _ => decode::listen(rank, from, ctx),
            })
        });
    }
    acted
}

/// A network card lands a piece of a write that it chooses. What is chosen is marked as landing, so that no other card
/// lands it too.
fn land_one<P: Threads>(
    ctx: &mut Act<'_, P>,
    choose: impl FnOnce(&mut dyn Iterator<Item = (OpId, u8)>) -> Option<(OpId, u8)>,
) -> bool {
    let next = ctx.world.fabric.with(|fabric| {
        let open = fabric.iter().flat_map(|write| {
            let missing = (0..write.slices).filter(|piece| write.live() && write.untouched(*piece));
            missing.map(|piece| (write.op, piece))
        });
        let (op, piece) = choose(&mut Box::new(open) as &mut dyn Iterator<Item = (OpId, u8)>)?;
        fabric.get_mut(op)?.landing |= 1 << piece;
        Some((op, piece))
    });
    let Some((op, piece)) = next else { return false };
    land(op, piece, ctx);
    true
}

/// A fault strikes where there is something to break; returns whether there was.
fn strike<P: Threads>(fault: Actor, ctx: &mut Act<'_, P>) -> bool {
    if fault == Actor::Loss {
        return lose_one(ctx);
    }
    let pages = if fault == Actor::TransferTimeout { ctx.config.scope.slow_pages } else { 0 };
    let victim = |write: &Transfer| write.untold() && write.landing == 0 && write.pages() > pages;
    if fault == Actor::TransferTimeout { time_out_one(victim, ctx) } else { break_one(victim, ctx) }
}

fn lose_one<P: Threads>(ctx: &mut Act<'_, P>) -> bool {
    let Some(lane) = lanes(&ctx.config.scope).find(|lane| ctx.world.waiting(*lane) > 0) else { return false };
    lose(lane, ctx);
    true
}
