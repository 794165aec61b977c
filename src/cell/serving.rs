//! The whole cell: the world, its actors, and the steps that they can take.

use super::balancer::{self, Client};
use super::crew::{Actor, Shift};
use super::decode::{self, DecodeScheduler};
use super::fabric::{Fabric, Payload, Told, Transfer};
use super::message::{Http, Queue};
use super::prefill::{self, PrefillScheduler, PrefillShared, Worker};
use super::scope::{Faults, Scope};
use super::site::Site;
use super::step::{Step, lanes};
use super::switch::Switch;
use super::world::{Config, Ctx, Lane, Probe, World, row_index};
use crate::few::{Few, clone_by_field};
use crate::lifetime::{Event, Kind, Label, Life, OpId, Oracle, Verdict, Violation};
use crate::platform::{Local, Platform, Shared};
use derive_where::derive_where;

/// Whether prefill is there, and whether decode has noticed if it is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PrefillHealth {
    /// It runs.
    Alive,
    /// It has died.
    Dead,
    /// It has died, and decode's heartbeat has said so.
    Noticed,
}

/// How many faults a run has suffered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Suffered {
    aborts: u8,
    disconnects: u8,
    losses: u8,
    transfer_errors: u8,
    transfer_timeouts: u8,
    kills: u8,
}

impl Suffered {
    /// How many more there may be.
    const fn left(self, budget: &Faults) -> Self {
        Self {
            aborts: budget.aborts.saturating_sub(self.aborts),
            disconnects: budget.disconnects.saturating_sub(self.disconnects),
            losses: budget.losses.saturating_sub(self.losses),
            transfer_errors: budget.transfer_errors.saturating_sub(self.transfer_errors),
            transfer_timeouts: budget.transfer_timeouts.saturating_sub(self.transfer_timeouts),
            kills: budget.kills.saturating_sub(self.kills),
        }
    }

    /// Whether the network or a machine, not only a client, has misbehaved. Waiting for a timer is then no fault.
    const fn disturbed(self) -> bool {
        self.losses > 0 || self.transfer_errors > 0 || self.transfer_timeouts > 0 || self.kills > 0
    }
}

/// A serving cell at one moment.
#[derive_where(Debug, PartialEq, Eq, Hash)]
pub struct Cell<P: Platform> {
    /// What the actors share.
    pub world: World<P>,
    /// The prefill scheduler.
    pub prefill: PrefillScheduler,
    /// The transfer workers, one a prefill rank.
    pub workers: Few<Worker, 1>,
    /// The decode scheduler.
    pub decode: DecodeScheduler,
    /// Whether prefill is there.
    pub health: PrefillHealth,
    suffered: Suffered,
}

clone_by_field!(Cell <P: Platform> { world, prefill, workers, decode, health, suffered });

impl<P: Platform> Cell<P> {
    /// A cell in which nothing has happened.
    #[must_use]
    pub fn new(scope: &Scope) -> Self {
        Self {
            world: World::new(scope),
            prefill: PrefillScheduler::new(scope),
            workers: (0..scope.prefill_ranks).map(Worker::new).collect(),
            decode: DecodeScheduler::new(scope),
            health: PrefillHealth::Alive,
            suffered: Suffered::default(),
        }
    }

    /// Takes `step` if it is enabled; returns whether it was.
    pub fn take<T: Probe>(&mut self, step: Step, config: &Config, probe: &mut T) -> bool {
        let enabled = self.enabled(step, config, probe);
        if enabled {
            self.perform(step, config, probe);
        }
        enabled
    }

    /// Takes `step`, which is enabled: whoever has it from [`steps`](Self::steps) need not ask again.
    pub fn perform<T: Probe>(&mut self, step: Step, config: &Config, probe: &mut T) {
        let mut ctx = Ctx { world: &self.world, config, probe };
        match step {
            Step::Submit => {
                let next = ctx.world.balancer.with(|balancer| balancer.next());
                if let Some(request) = next {
                    balancer::submit(request, self.health == PrefillHealth::Alive, &mut ctx);
                }
            }
            Step::Abort(request) => {
                self.suffered.aborts += 1;
                balancer::leave(request, true, &mut ctx);
            }
            Step::Disconnect(request) => {
                self.suffered.disconnects += 1;
                balancer::leave(request, false, &mut ctx);
            }
            Step::Prefill => self.prefill.tick(&mut ctx),
            Step::ForwardEnds => self.prefill.end_forward(&mut ctx),
            Step::Worker(rank) => {
                self.workers[usize::from(rank)].step(&mut ctx);
            }
            Step::Decode => self.decode.tick(&mut ctx),
            Step::Deliver(lane) => {
                deliver(lane, &mut ctx);
            }
            Step::Lose(lane) => {
                self.suffered.losses += 1;
                lose(lane, &mut ctx);
            }
            Step::Land { op, piece } => land(OpId(u32::from(op)), piece, &mut ctx),
            Step::TransferError(op) => {
                self.suffered.transfer_errors += 1;
                break_one(|write| write.op == OpId(u32::from(op)), &mut ctx);
            }
            Step::TransferTimeout(op) => {
                self.suffered.transfer_timeouts += 1;
                time_out_one(|write| write.op == OpId(u32::from(op)), &ctx);
            }
            Step::KillPrefill => self.kill_prefill(config, probe),
            Step::ReplacePrefill => self.health = PrefillHealth::Alive,
            Step::Heartbeat => {
                self.health = PrefillHealth::Noticed;
                decode::beat(&mut ctx);
            }
            Step::Elapse => {
                self.prefill.elapse();
                self.decode.elapse();
            }
        }
    }

    /// Prefill dies: its memory, its writes, what was on its way to it, and its connections are gone. A dead initiator
    /// writes no more (transfer semantics K.4: confirmed death of the process is a fence).
    fn kill_prefill<T: Probe>(&mut self, config: &Config, probe: &mut T) {
        self.suffered.kills += 1;
        self.health = PrefillHealth::Dead;
        let mut ctx = Ctx { world: &self.world, config, probe };
        ctx.world.lost.with(|lost| *lost = lost.saturating_add(1));
        for transfer in ctx.world.fabric.with(Fabric::take_all) {
            if transfer.live() {
                ctx.emit(Site::PrefillDeath, Event::Settle { op: transfer.op });
            }
        }
        let unread = ctx.world.net.prefill_http.with(Queue::take_all);
        for message in unread {
            if let Http::New(request) = message {
                let error = balancer::Reply::error(Verdict::Failed);
                balancer::prefill_reply(request, error, &mut ctx);
            }
        }
        self.prefill.die(&mut ctx);
        for lane in lanes(&config.scope) {
            if let Lane::ToPrefill { from, to } = lane {
                ctx.world.to_prefill(from, to).with(Queue::take_all);
            }
        }
        for (rank, shared) in self.world.prefill.iter_mut().enumerate() {
            *shared = PrefillShared::new(&config.scope);
            self.workers[rank] = Worker::new(rank as u8);
        }
    }

    /// Whether `step` would do something.
    #[inline]
    pub fn enabled<T: Probe>(&self, step: Step, config: &Config, probe: &mut T) -> bool {
        let ctx = Ctx { world: &self.world, config, probe };
        let faults = &config.scope.faults;
        let client = |request: u8| {
            usize::from(request) < config.scope.requests.len()
                && ctx.world.balancer.with(|balancer| balancer.pair(request).client) == Client::Waiting
        };
        let alive = self.health == PrefillHealth::Alive;
        match step {
            Step::Submit => ctx.world.balancer.with(|balancer| balancer.next()).is_some(),
            Step::Abort(request) => self.suffered.aborts < faults.aborts && client(request),
            Step::Disconnect(request) => self.suffered.disconnects < faults.disconnects && client(request),
            Step::Prefill => alive && self.prefill.ready(&ctx),
            Step::ForwardEnds => alive && self.prefill.forward_runs(),
            Step::Worker(rank) => alive && self.workers.get(usize::from(rank)).is_some_and(|worker| worker.ready(&ctx)),
            Step::Decode => self.decode.ready(&ctx),
            Step::Deliver(lane) => self.deliverable(lane, config),
            Step::Lose(lane) => self.suffered.losses < faults.losses && self.deliverable(lane, config),
            Step::Land { op, piece } => ctx.world.fabric.with(|fabric| {
                fabric
                    .get(OpId(u32::from(op)))
                    .is_some_and(|write| write.live() && piece < write.slices && write.landed & (1 << piece) == 0)
            }),
            Step::TransferError(op) => self.suffered.transfer_errors < faults.transfer_errors && self.untold(op, 0),
            Step::TransferTimeout(op) => {
                self.suffered.transfer_timeouts < faults.transfer_timeouts && self.untold(op, config.scope.slow_pages)
            }
            Step::KillPrefill => alive && self.suffered.kills < faults.kills,
            Step::ReplacePrefill => !alive,
            Step::Heartbeat => self.health == PrefillHealth::Dead,
            Step::Elapse => self.prefill.timer_runs() || self.decode.timer_runs(),
        }
    }

    /// Whether the initiator of `op` still waits, and it writes more than `pages` pages (or a row, which is small).
    fn untold(&self, op: u8, pages: u32) -> bool {
        self.world
            .fabric
            .with(|fabric| fabric.get(OpId(u32::from(op))).is_some_and(|write| write.untold() && write.pages() > pages))
    }

    fn deliverable(&self, lane: Lane, config: &Config) -> bool {
        let (Lane::ToPrefill { from: decode, to: prefill }
        | Lane::ToDecode { from: prefill, to: decode }
        | Lane::Aux { from: prefill, to: decode }) = lane;
        if prefill >= config.scope.prefill_ranks || decode >= config.scope.decode_ranks {
            return false;
        }
        let heard = self.health == PrefillHealth::Alive || !matches!(lane, Lane::ToPrefill { .. });
        heard && self.world.waiting(lane) > 0
    }

    /// Every enabled step, in a fixed order.
    pub fn steps<T: Probe>(&self, config: &Config, probe: &mut T, out: &mut Vec<Step>) {
        let Config { scope, .. } = config;
        let mut offer = |step| {
            if self.enabled(step, config, probe) {
                out.push(step);
            }
        };
        [Step::Prefill, Step::ForwardEnds, Step::Decode].into_iter().for_each(&mut offer);
        (0..scope.prefill_ranks).map(Step::Worker).for_each(&mut offer);
        lanes(scope).map(Step::Deliver).for_each(&mut offer);
        // Names and numbers of pieces, since a step is asked for while nobody else looks at the fabric.
        let writes: Few<(u8, u8), 4> =
            self.world.fabric.with(|fabric| fabric.iter().map(|write| (write.op.0 as u8, write.slices)).collect());
        for &(op, slices) in &writes {
            (0..slices).map(|piece| Step::Land { op, piece }).for_each(&mut offer);
        }
        let rest = [Step::Heartbeat, Step::Elapse, Step::Submit, Step::KillPrefill, Step::ReplacePrefill];
        rest.into_iter().for_each(&mut offer);
        // Most scopes suffer few faults, and most states have no budget left for more.
        let left = self.suffered.left(&scope.faults);
        if left.aborts > 0 || left.disconnects > 0 {
            let requests = 0..scope.requests.len() as u8;
            requests.flat_map(|request| [Step::Abort(request), Step::Disconnect(request)]).for_each(&mut offer);
        }
        if left.losses > 0 {
            lanes(scope).map(Step::Lose).for_each(&mut offer);
        }
        if left.transfer_errors > 0 || left.transfer_timeouts > 0 {
            for &(op, _) in &writes {
                [Step::TransferError(op), Step::TransferTimeout(op)].into_iter().for_each(&mut offer);
            }
        }
    }

    /// Lives that hold slots behind their client's back for a reason that is no fault: a peer died, so that the proof
    /// that its writes are over will never come (#38961, property g: quarantine, not reuse).
    fn quarantined(&self) -> Few<Life, 4> {
        let held = self.decode.requests().iter().filter(|entry| entry.stage == decode::DecodeStage::Held);
        held.filter(|_| self.suffered.kills > 0).map(|entry| Config::life(entry.request)).collect()
    }
}

impl Cell<Local> {
    /// Counts the faults among `shifts` as suffered: to wait for a timer is then no fault of the protocol.
    pub(super) fn disturbed_by(&mut self, shifts: &[Shift]) {
        let strikes = |fault: Actor| shifts.iter().filter(|shift| shift.actor == fault).count() as u8;
        self.suffered.losses += strikes(Actor::Loss) + strikes(Actor::Heartbeat);
        self.suffered.transfer_errors += strikes(Actor::TransferError);
        self.suffered.transfer_timeouts += strikes(Actor::TransferTimeout);
    }

    /// Judges a state in which nothing can move: with timers left to fire (`timers`), or for good.
    ///
    /// While timers are left, a request that only a timer can end is stuck if nothing but clients has misbehaved. For
    /// good, whatever is unfinished is stuck and whatever is not free has leaked, except what is quarantined.
    pub fn judge_quiet(&self, oracle: &Oracle, timers: bool, out: &mut Vec<Violation>) {
        if self.prefill.crashed() || self.decode.crashed() {
            // The crash has been reported; what stands still because of it is no news.
            return;
        }
        let quarantined = self.quarantined();
        if !timers {
            oracle.quiesce(Label::from(Site::Final), &quarantined, out);
        } else if !self.suffered.disturbed() {
            let before = out.len();
            oracle.quiesce(Label::from(Site::Quiet), &quarantined, out);
            // A slot that waits for a timer has not leaked; the one who waits is stuck.
            for violation in &mut out[before..] {
                violation.kind = Kind::Stuck;
            }
        }
    }
}

/// The listener at the end of `lane` takes its oldest message.
fn deliver<P: Platform, T: Probe>(lane: Lane, ctx: &mut Ctx<'_, P, T>) -> bool {
    match lane {
        Lane::ToPrefill { from, to } => prefill::listen(to, from, ctx),
        Lane::ToDecode { from, to } => decode::listen(to, from, ctx),
        Lane::Aux { from, to } => decode::listen_aux(to, from, ctx),
    }
}

/// A piece of a write arrives. The last piece ends it: the initiator sees a completion, and nothing more can come.
pub(super) fn land<P: Platform, T: Probe>(op: OpId, piece: u8, ctx: &mut Ctx<'_, P, T>) {
    let Some(write) = ctx.world.fabric.with(|fabric| fabric.get(op).cloned()) else { return };
    let width = ctx.config.width(write.target.place.arena);
    let site = if write.payload == Payload::Kv { Site::Land } else { Site::LandAux };
    let part = write.piece(piece, width);
    ctx.emit(site, Event::Land { op, part });
    ctx.copy(&write, part);
    if write.payload == Payload::Aux {
        let content = ctx.world.prefill[usize::from(write.from)].rows.with(|rows| rows[row_index(&write.source)]);
        ctx.world.write_decode_row(write.to, &write.target, content);
    }
    let probe = &mut *ctx.probe;
    let last = ctx.world.fabric.with(|fabric| {
        let write = fabric.get_mut(op)?;
        write.landed |= 1 << piece;
        let last = write.complete();
        if last {
            // Said before the initiator can see it: what it does next comes after.
            probe.emit(Site::Settled, &Event::Settle { op });
            if write.told == Told::Nothing {
                write.told = Told::Completed;
            }
        }
        fabric.forget(op);
        Some(last)
    });
    if last == Some(true) {
        settled(&write, ctx);
    }
}

/// A write that its initiator had given up is proven to be over. With `poison_recovers` that ends the room's poison.
fn settled<P: Platform, T: Probe>(write: &Transfer, ctx: &mut Ctx<'_, P, T>) {
    if !ctx.on(Switch::PoisonRecovers) {
        return;
    }
    let shared = &ctx.world.prefill[usize::from(write.from)];
    // The proof is looked at under the lock: an older one would end the poison of a write that was posted since.
    shared.in_one_go(ctx.config, || {
        let unsettled = ctx.world.fabric.with(|fabric| fabric.unsettled(write.from, write.key));
        if !unsettled && shared.poisoned.with(|poisoned| poisoned.remove(write.key)).is_some() {
            prefill::maybe_ack(write.from, write.key, ctx);
        }
    });
}

/// The first write that is a `victim` ends in an error: what has landed has landed, the rest never will. Returns
/// whether there was one. To choose it and to end it is one access: between the two it could land.
pub(super) fn break_one<P: Platform, T: Probe>(victim: impl Fn(&Transfer) -> bool, ctx: &mut Ctx<'_, P, T>) -> bool {
    let probe = &mut *ctx.probe;
    let broken = ctx.world.fabric.with(|fabric| {
        let op = fabric.iter().find(|write| victim(write))?.op;
        probe.emit(Site::Settled, &Event::Settle { op });
        let write = fabric.get_mut(op)?;
        write.told = Told::Failed;
        let write = write.clone();
        fabric.forget(op);
        Some(write)
    });
    broken.inspect(|write| settled(write, ctx)).is_some()
}

/// The initiator of the first write that is a `victim` is told that it has timed out; the write goes on. Returns
/// whether there was one.
pub(super) fn time_out_one<P: Platform, T: Probe>(victim: impl Fn(&Transfer) -> bool, ctx: &Ctx<'_, P, T>) -> bool {
    ctx.world.fabric.with(|fabric| {
        let op = fabric.iter().find(|write| victim(write)).map(|write| write.op);
        let write = op.and_then(|op| fabric.get_mut(op));
        write.map(|write| write.told = Told::TimedOut).is_some()
    })
}

pub(super) fn lose<P: Platform, T: Probe>(lane: Lane, ctx: &mut Ctx<'_, P, T>) {
    ctx.world.lost.with(|lost| *lost = lost.saturating_add(1));
    match lane {
        Lane::ToPrefill { from, to } => {
            ctx.world.to_prefill(from, to).with(Queue::pop);
        }
        Lane::ToDecode { from, to } => {
            ctx.world.to_decode(from, to).with(Queue::pop);
        }
        Lane::Aux { from, to } => {
            if let Some(message) = ctx.world.aux(from, to).with(Queue::pop) {
                ctx.emit(Site::LandAux, Event::Settle { op: message.op });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_disturb_nothing_and_everything_else_does() {
        let none = Suffered::default();
        let disturbing = [
            Suffered { losses: 1, ..none },
            Suffered { transfer_errors: 1, ..none },
            Suffered { transfer_timeouts: 1, ..none },
            Suffered { kills: 1, ..none },
        ];
        assert!(disturbing.into_iter().all(Suffered::disturbed));
        assert!(!none.disturbed() && !Suffered { aborts: 1, disconnects: 1, ..none }.disturbed());
    }

    #[test]
    fn faults_among_threads_count_as_suffered() {
        let mut cell = Cell::<Local>::new(&crate::library::scope("abort").expect("it is shipped"));
        let shift = |actor| Shift { actor, turns: 1 };
        cell.disturbed_by(&[shift(Actor::PrefillScheduler), shift(Actor::Abort(0))]);
        assert_eq!(cell.suffered, Suffered::default());
        let strikes = [Actor::Loss, Actor::Heartbeat, Actor::Heartbeat, Actor::TransferError, Actor::TransferTimeout];
        cell.disturbed_by(&strikes.map(shift));
        let expected = Suffered { losses: 3, transfer_errors: 1, transfer_timeouts: 1, ..Suffered::default() };
        assert_eq!(cell.suffered, expected);
    }
}
