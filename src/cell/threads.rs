//! The cell on threads: one a thread of the engine (protocol section 4), without faults and without timers.
//!
//! Where [`Cell`](super::Cell) takes one actor's step at a time, here every actor is a thread that takes its own steps as
//! long as the run lasts, and each access to what they share is a chance for another one to come in between. The
//! schedule is the platform's: the operating system's, or that of a checker which tries them all.
//!
//! The GPU has no thread of its own: the prefill scheduler ends its oldest forward when it has nothing else to do.

use super::balancer::{self, Leg};
use super::decode::{self, DecodeScheduler};
use super::fabric::Transfer;
use super::prefill::{self, PrefillScheduler, Worker};
use super::serving::land;
use super::site::Site;
use super::world::{Config, Ctx, Probe, World};
use crate::lifetime::{Event, Label, OpId, Oracle, Violation};
use crate::platform::{Shared, Threads};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How a run on threads went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// What was violated, and at the end what has leaked or never ended.
    pub violations: Vec<Violation>,
    /// How each request's decode leg ended.
    pub legs: Vec<Leg>,
    /// Whether a thread ran out of rounds: the run was cut short and is no pass.
    pub starved: bool,
}

/// The oracle and what it has said. Not a cell of the platform: that would make hearing an event a scheduling point.
#[derive(Debug)]
struct Judge {
    oracle: Oracle,
    violations: Vec<Violation>,
    starved: bool,
}

/// What all threads of a run share.
struct Stage<P: Threads> {
    world: World<P>,
    config: Config,
    /// How many of the two schedulers have ended.
    ended: P::Cell<u8>,
    judge: Mutex<Judge>,
}

impl<P: Threads> Stage<P> {
    fn judge(&self) -> MutexGuard<'_, Judge> {
        self.judge.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn served(&self) -> bool {
        self.world.balancer.with(|balancer| balancer.all_done())
    }

    fn schedulers_have_ended(&self) -> bool {
        self.ended.with(|ended| *ended == 2)
    }
}

/// A thread's ear of the oracle.
struct Ear<'a>(&'a Mutex<Judge>);

impl Probe for Ear<'_> {
    fn emit(&mut self, site: Site, event: &Event) {
        let mut judge = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Judge { oracle, violations, .. } = &mut *judge;
        oracle.apply(Label::from(site), event, violations);
    }
}

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

impl Next {
    const fn after(acted: bool) -> Self {
        if acted { Self::Again } else { Self::GiveWay }
    }
}

type Body = Box<dyn FnOnce() + Send>;
type Act<'a, P> = Ctx<'a, P, Ear<'a>>;

/// A thread that takes turns until it is through, `rounds` at most.
fn body<P: Threads>(
    stage: &Arc<Stage<P>>,
    rounds: u32,
    mut act: impl FnMut(&Stage<P>, &mut Act<'_, P>) -> Next + Send + 'static,
) -> Body
where
    Stage<P>: Send + Sync,
{
    let stage = Arc::clone(stage);
    Box::new(move || {
        for _ in 0..rounds {
            let mut ctx = Ctx { world: &stage.world, config: &stage.config, probe: &mut Ear(&stage.judge) };
            match act(&stage, &mut ctx) {
                Next::Again => {}
                Next::GiveWay => P::give_way(),
                Next::End => return,
            }
        }
        stage.judge().starved = true;
    })
}

/// Runs the requests of a scope to their end, one thread an actor: clients, prefill scheduler, transfer workers,
/// bootstrap listeners, decode scheduler, decode listeners, fabric. Each takes at most `rounds` turns.
///
/// # Panics
/// When an actor panics.
#[must_use]
pub fn run_on_threads<P: Threads>(config: Config, rounds: u32) -> Outcome
where
    World<P>: Send + Sync,
    P::Cell<u8>: Send + Sync,
{
    let judge = Judge { oracle: config.oracle(), violations: Vec::new(), starved: false };
    let world = World::new(&config.scope);
    let stage = Arc::new(Stage::<P> { world, config, ended: Shared::new(0), judge: Mutex::new(judge) });
    let scope = &stage.config.scope;
    let (prefill_ranks, decode_ranks) = (scope.prefill_ranks, scope.decode_ranks);
    let mut bodies = vec![
        body(&stage, rounds, |_, ctx| clients(ctx)),
        body(&stage, rounds, prefill_scheduler(PrefillScheduler::new(scope))),
        body(&stage, rounds, decode_scheduler(DecodeScheduler::new(scope))),
        body(&stage, rounds, |stage, ctx| helper(stage, land_next(ctx))),
    ];
    for rank in 0..prefill_ranks {
        let mut worker = Worker::new(rank);
        bodies.push(body(&stage, rounds, move |stage, ctx| {
            let ready = worker.ready(ctx);
            worker.step(ctx);
            helper(stage, ready)
        }));
        bodies.push(body(&stage, rounds, move |stage, ctx| helper(stage, listen_at_prefill(rank, ctx))));
    }
    for rank in 0..decode_ranks {
        bodies.push(body(&stage, rounds, move |stage, ctx| helper(stage, listen_at_decode(rank, ctx))));
    }
    P::run(bodies);
    outcome(&stage)
}

fn outcome<P: Threads>(stage: &Stage<P>) -> Outcome {
    let mut judge = stage.judge();
    let Judge { oracle, violations, starved } = &mut *judge;
    if !*starved {
        oracle.quiesce(Label::from(Site::Final), &[], violations);
    }
    let requests = 0..stage.config.scope.requests.len() as u8;
    let legs = stage.world.balancer.with(|balancer| requests.map(|request| balancer.pair(request).decode).collect());
    Outcome { violations: std::mem::take(violations), legs, starved: *starved }
}

/// A thread that serves the schedulers ends after them.
fn helper<P: Threads>(stage: &Stage<P>, acted: bool) -> Next {
    if !acted && stage.schedulers_have_ended() { Next::End } else { Next::after(acted) }
}

fn clients<P: Threads>(ctx: &mut Act<'_, P>) -> Next {
    let next = ctx.world.balancer.with(|balancer| balancer.next());
    let Some(request) = next else { return Next::End };
    balancer::submit(request, true, ctx);
    Next::Again
}

fn prefill_scheduler<P: Threads>(
    mut scheduler: PrefillScheduler,
) -> impl FnMut(&Stage<P>, &mut Act<'_, P>) -> Next + Send + 'static {
    move |stage, ctx| {
        // Asked first: a request that comes later is not overlooked.
        let served = stage.served();
        let ready = scheduler.ready(ctx);
        if ready {
            scheduler.tick(ctx);
        } else if scheduler.forward_runs() {
            scheduler.end_forward(ctx);
        } else if served && (scheduler.requests().is_empty() || scheduler.crashed()) {
            stage.ended.with(|ended| *ended += 1);
            return Next::End;
        }
        Next::after(ready)
    }
}

fn decode_scheduler<P: Threads>(
    mut scheduler: DecodeScheduler,
) -> impl FnMut(&Stage<P>, &mut Act<'_, P>) -> Next + Send + 'static {
    move |stage, ctx| {
        let served = stage.served();
        let ready = scheduler.ready(ctx);
        if ready {
            scheduler.tick(ctx);
        } else if served && (scheduler.requests().is_empty() || scheduler.crashed()) {
            stage.ended.with(|ended| *ended += 1);
            return Next::End;
        }
        Next::after(ready)
    }
}

/// The bootstrap thread of a prefill rank takes a message of each decode rank in turn.
fn listen_at_prefill<P: Threads>(rank: u8, ctx: &mut Act<'_, P>) -> bool {
    let mut acted = false;
    for from in 0..ctx.config.scope.decode_ranks {
        acted |= !ctx.world.to_prefill(from, rank).with(|queue| queue.is_empty());
        prefill::listen(rank, from, ctx);
    }
    acted
}

/// `decode_thread` of a decode rank takes a message and a row of each prefill rank in turn.
fn listen_at_decode<P: Threads>(rank: u8, ctx: &mut Act<'_, P>) -> bool {
    let mut acted = false;
    for from in 0..ctx.config.scope.prefill_ranks {
        acted |= !ctx.world.to_decode(from, rank).with(|queue| queue.is_empty());
        decode::listen(rank, from, ctx);
        acted |= !ctx.world.aux(from, rank).with(|queue| queue.is_empty());
        decode::listen_aux(rank, from, ctx);
    }
    acted
}

/// The fabric lands the next piece of its oldest write.
fn land_next<P: Threads>(ctx: &mut Act<'_, P>) -> bool {
    let next_piece = |write: &Transfer| {
        let open = |piece: &u8| write.live() && write.landed & (1 << piece) == 0;
        (0..write.slices).find(open).map(|piece| (write.op, piece))
    };
    let next: Option<(OpId, u8)> = ctx.world.fabric.with(|fabric| fabric.iter().find_map(next_piece));
    let Some((op, piece)) = next else { return false };
    land(op, piece, ctx);
    true
}
