//! A transfer worker: takes chunks, posts their writes, concludes rooms (protocol P13 to P17).

use super::shared::{Chunk, maybe_ack, send_status};
use crate::cell::fabric::{Payload, Told, Transfer};
use crate::cell::message::{AuxData, Queue, TransferInfo};
use crate::cell::pool::{self, part};
use crate::cell::room::Poll;
use crate::cell::scope::Completion;
use crate::cell::site::Site;
use crate::cell::switch::Switch;
use crate::cell::world::{Config, Ctx, Probe, row_index};
use crate::few::{Few, clone_by_field};
use crate::lifetime::{Event, OpId, Slots, Verdict};
use crate::platform::{Platform, Shared};

/// A chunk in a worker's hands.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Job {
    /// The chunk.
    pub chunk: Chunk,
    /// Who gets it.
    peers: Few<TransferInfo, 1>,
    /// Which of them is being served.
    peer: u8,
    /// How many of the chunk's pages that peer has been sent.
    cursor: u32,
    /// Whether that peer has been sent the metadata.
    aux_sent: bool,
    /// The writes that the worker waits for.
    ops: Few<OpId, 2>,
}

clone_by_field!(Job { chunk, peers, peer, cursor, aux_sent, ops });

/// One transfer worker of a prefill rank.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Worker {
    rank: u8,
    /// A chunk that has been counted and whose room has not been looked at yet.
    taken: Option<Chunk>,
    job: Option<Job>,
}

clone_by_field!(Worker { rank, taken, job });

/// How a job's writes stand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Standing {
    Waiting,
    Completed,
    Failed,
}

impl Worker {
    /// An idle worker of `rank`.
    #[must_use]
    pub const fn new(rank: u8) -> Self {
        Self { rank, taken: None, job: None }
    }

    /// The rank that it works for.
    #[must_use]
    pub const fn rank(&self) -> u8 {
        self.rank
    }

    /// The chunk in hand.
    #[must_use]
    pub fn chunk(&self) -> Option<&Chunk> {
        self.taken.as_ref().or(self.job.as_ref().map(|job| &job.chunk))
    }

    /// Whether [`step`](Self::step) would do something.
    pub fn ready<P: Platform, T: Probe>(&self, ctx: &Ctx<'_, P, T>) -> bool {
        match &self.job {
            Some(job) => standing(job, ctx) != Standing::Waiting,
            None => self.taken.is_some() || self.next_is_ready(ctx),
        }
    }

    /// Whether the head of the queue may be taken: a worker of 0.5.22 and later waits for the forward that fills it.
    fn next_is_ready<P: Platform, T: Probe>(&self, ctx: &Ctx<'_, P, T>) -> bool {
        let shared = &ctx.world.prefill[usize::from(self.rank)];
        let Some((request, end)) = shared.queue.with(|queue| queue.first().map(|chunk| (chunk.request, chunk.end)))
        else {
            return false;
        };
        !(ctx.config.scope.overlap && ctx.on(Switch::EarlySendWaits))
            || shared.computed.with(|computed| computed[usize::from(request)]) >= end
    }

    /// Takes a chunk, looks at its room, or acts on writes that have been reported. Returns whether there was something to
    /// do.
    pub fn step<P: Platform, T: Probe>(&mut self, ctx: &mut Ctx<'_, P, T>) -> bool {
        if let Some(chunk) = self.taken.take() {
            self.begin(chunk, ctx);
            return true;
        }
        let Some(job) = self.job.take() else { return self.next_is_ready(ctx) && self.take_and_begin(ctx) };
        match standing(&job, ctx) {
            Standing::Waiting => {
                self.job = Some(job);
                return false;
            }
            Standing::Completed => {
                for &op in &job.ops {
                    ctx.world.fabric.with(|fabric| fabric.abandon(op));
                }
                self.proceed(Job { ops: Few::new(), ..job }, ctx);
            }
            Standing::Failed => self.retry_or_fail(job, ctx),
        }
        true
    }

    fn take_and_begin<P: Platform, T: Probe>(&mut self, ctx: &mut Ctx<'_, P, T>) -> bool {
        let taken = self.take(ctx);
        // Nothing is between the halves where nobody looks.
        if !ctx.on(Switch::WorkerChecksRoom)
            && let Some(chunk) = self.taken.take()
        {
            self.begin(chunk, ctx);
        }
        taken
    }

    /// P13, first half: counts the chunk *before* it looks at the room (Dekker's pattern with the ABORT handler). An ABORT
    /// may be handled between the halves, so each is a step.
    fn take<P: Platform, T: Probe>(&mut self, ctx: &Ctx<'_, P, T>) -> bool {
        let shared = &ctx.world.prefill[usize::from(self.rank)];
        shared.in_one_go(ctx.config, || {
            self.taken = shared.queue.with(Queue::pop);
            if let Some(chunk) = &self.taken {
                shared.count(chunk.key, 1);
            }
        });
        self.taken.is_some()
    }

    /// P13, second half, and P16: a chunk whose room is gone or Failed is skipped. One whose room has started again, without
    /// the infos of its own, goes nowhere and is counted out.
    fn begin<P: Platform, T: Probe>(&mut self, chunk: Chunk, ctx: &mut Ctx<'_, P, T>) {
        let shared = &ctx.world.prefill[usize::from(self.rank)];
        let key = chunk.key;
        let peers = shared.in_one_go(ctx.config, || {
            let checks = ctx.on(Switch::WorkerChecksRoom);
            if checks && matches!(shared.status(key), None | Some(Poll::Failed)) {
                // The engine erases the counter here instead of decrementing it (MC:2545).
                shared.outstanding.with(|outstanding| outstanding.remove(key));
                if ctx.on(Switch::SkipAcks) {
                    maybe_ack(self.rank, key, ctx);
                }
                return None;
            }
            let peers = shared.infos.with(|infos| infos.get(key).cloned());
            if peers.is_none() {
                shared.count(key, -1);
                maybe_ack(self.rank, key, ctx);
                shared.tear_down(key, chunk.row.is_some());
            }
            peers
        });
        if let Some(peers) = peers {
            self.proceed(Job { chunk, peers, peer: 0, cursor: 0, aux_sent: false, ops: Few::new() }, ctx);
        }
    }

    /// Posts the next writes of the job, or concludes it.
    fn proceed<P: Platform, T: Probe>(&mut self, mut job: Job, ctx: &mut Ctx<'_, P, T>) {
        while let Some(peer) = job.peers.get(usize::from(job.peer)) {
            // A destination that is shorter than the source cuts the source off, with a warning (MC:2631).
            let room_for = pool::count(&peer.pages).saturating_sub(job.chunk.offset);
            let left = pool::count(&job.chunk.pages).min(room_for).saturating_sub(job.cursor);
            if left > 0 {
                let bound = if ctx.on(Switch::BatchBound) { ctx.config.scope.batch_pages } else { u32::MAX };
                post_batch(self.rank, &mut job, left.min(bound), ctx);
                self.job = Some(job);
                return;
            }
            if let (Some(row), false) = (&job.chunk.row, job.aux_sent) {
                let row = row.clone();
                job.aux_sent = true;
                if ctx.config.scope.aux_by_message {
                    send_aux_message(self.rank, &job, &row, ctx);
                    continue;
                }
                post_aux(self.rank, &mut job, row, ctx);
                self.job = Some(job);
                return;
            }
            job.peer += 1;
            job.cursor = 0;
            job.aux_sent = false;
        }
        let (world, config) = (ctx.world, ctx.config);
        world.prefill[usize::from(self.rank)].in_one_go(config, || self.conclude(&job, ctx));
    }

    /// P14, P17: the chunk is everywhere. After the last one the room is Success, and every peer is told before the
    /// worker counts the chunk out.
    fn conclude<P: Platform, T: Probe>(&self, job: &Job, ctx: &mut Ctx<'_, P, T>) {
        let shared = &ctx.world.prefill[usize::from(self.rank)];
        let key = job.chunk.key;
        let last = job.chunk.row.is_some();
        if last {
            shared.update_status(key, Poll::Success, ctx.config);
            for peer in &job.peers {
                send_status(self.rank, peer.rank, key, None, ctx);
            }
        }
        shared.count(key, -1);
        maybe_ack(self.rank, key, ctx);
        shared.tear_down(key, last);
    }

    fn retry_or_fail<P: Platform, T: Probe>(&mut self, mut job: Job, ctx: &mut Ctx<'_, P, T>) {
        let fabric = &ctx.world.fabric;
        let failed = fabric.with(|fabric| {
            let told = |op: &OpId| fabric.get(*op).filter(|transfer| unsuccessful(transfer)).cloned();
            job.ops.iter().find_map(told)
        });
        match failed {
            Some(failed) if failed.attempt < ctx.config.scope.retries => {
                retry(&mut job, failed, ctx);
                self.job = Some(job);
            }
            _ => {
                let (world, config) = (ctx.world, ctx.config);
                world.prefill[usize::from(self.rank)].in_one_go(config, || self.fail(&job, ctx));
            }
        }
    }

    /// P15: an error ends the room. Writes that go on are nobody's business any more, unless the room is poisoned.
    fn fail<P: Platform, T: Probe>(&self, job: &Job, ctx: &mut Ctx<'_, P, T>) {
        let shared = &ctx.world.prefill[usize::from(self.rank)];
        let key = job.chunk.key;
        for &op in &job.ops {
            ctx.world.fabric.with(|fabric| fabric.abandon(op));
        }
        // A proof of settlement is what ends poison in the reference; without that rule every error is for good.
        let unsettled = ctx.world.fabric.with(|fabric| fabric.unsettled(self.rank, key));
        if ctx.on(Switch::Poison) && (unsettled || !ctx.on(Switch::PoisonRecovers)) {
            shared.poisoned.with(|poisoned| poisoned.set(key, ()));
        }
        shared.update_status(key, Poll::Failed, ctx.config);
        for (at, peer) in job.peers.iter().enumerate() {
            if ctx.on(Switch::NotifyAllEndpoints) || at == usize::from(job.peer) {
                send_status(self.rank, peer.rank, key, Some(Verdict::Failed), ctx);
            }
        }
        shared.count(key, -1);
        maybe_ack(self.rank, key, ctx);
        shared.tear_down(key, job.chunk.row.is_some());
    }
}

fn unsuccessful(transfer: &Transfer) -> bool {
    matches!(transfer.told, Told::Failed | Told::TimedOut)
}

fn standing<P: Platform, T: Probe>(job: &Job, ctx: &Ctx<'_, P, T>) -> Standing {
    ctx.world.fabric.with(|fabric| {
        let mut transfers = job.ops.iter().filter_map(|op| fabric.get(*op));
        let running = transfers.clone().any(|transfer| transfer.told == Told::Nothing);
        let Some(failed) = transfers.find(|transfer| unsuccessful(transfer)) else {
            return if running { Standing::Waiting } else { Standing::Completed };
        };
        let retries = failed.attempt < ctx.config.scope.retries;
        let waits = if retries {
            ctx.config.on(Switch::RetryAfterSettle) && failed.live()
        } else {
            ctx.config.on(Switch::JoinSiblings) && running
        };
        if waits { Standing::Waiting } else { Standing::Failed }
    })
}

/// Posts `pages` pages of the chunk to the present peer, split into sibling writes.
fn post_batch<P: Platform, T: Probe>(rank: u8, job: &mut Job, pages: u32, ctx: &mut Ctx<'_, P, T>) {
    let page_size = ctx.config.scope.page_size;
    let siblings = u32::from(ctx.config.scope.siblings).min(pages);
    let peer = &job.peers[usize::from(job.peer)];
    let (to, destination) = (peer.rank, peer.pages.clone());
    for sibling in 0..siblings {
        let (from, until) = (pages * sibling / siblings, pages * (sibling + 1) / siblings);
        let at = job.cursor + from;
        let count = until - from;
        let cells = (count * page_size).min(job.chunk.tokens - at * page_size);
        let source = Slots { place: job.chunk.pages.place, runs: part(&job.chunk.pages.runs, at, count) };
        let target = Slots { place: destination.place, runs: part(&destination.runs, job.chunk.offset + at, count) };
        let slices = u32::from(ctx.config.scope.slices).min(count) as u8;
        let op = post(&New { rank, to, job, payload: Payload::Kv, source, target, cells, slices }, ctx);
        job.ops.push(op);
    }
    job.cursor += pages;
}

fn post_aux<P: Platform, T: Probe>(rank: u8, job: &mut Job, row: Slots, ctx: &mut Ctx<'_, P, T>) {
    let peer = &job.peers[usize::from(job.peer)];
    let (to, target) = (peer.rank, peer.row.clone());
    let op = post(&New { rank, to, job, payload: Payload::Aux, source: row, target, cells: 1, slices: 1 }, ctx);
    job.ops.push(op);
}

/// `SGLANG_MOONCAKE_SEND_AUX_TCP`: the row's content leaves at once, as a message that nobody waits for.
fn send_aux_message<P: Platform, T: Probe>(rank: u8, job: &Job, row: &Slots, ctx: &mut Ctx<'_, P, T>) {
    let peer = &job.peers[usize::from(job.peer)];
    let content = ctx.world.prefill[usize::from(rank)].rows.with(|rows| rows[row_index(row)]);
    let op = message_op(rank, ctx);
    let request = job.chunk.request;
    if !ctx.on(Switch::AuxValidated) {
        // A message that nobody validates is a write that can't be recalled. One that is, is a question.
        let target = Some(ctx.config.cells(&peer.row, 1));
        ctx.emit(Site::WorkerPostAux, Event::Post { op, life: Config::life(request), source: None, target });
    }
    let message = AuxData { key: job.chunk.key, request, row: peer.row.clone(), content, op };
    ctx.world.aux(rank, peer.rank).with(|queue| queue.push(message));
}

/// Messages are named above the fabric's writes, those of each rank apart: the lowest name that no waiting message has.
fn message_op<P: Platform, T: Probe>(rank: u8, ctx: &Ctx<'_, P, T>) -> OpId {
    let base = MESSAGE_OPS * (1 + u32::from(rank));
    let mut taken = 0_u64;
    for to in 0..ctx.world.decode.len() as u8 {
        ctx.world.aux(rank, to).with(|queue| {
            for message in queue.iter() {
                taken |= 1 << (message.op.0 - base);
            }
        });
    }
    OpId(base + taken.trailing_ones())
}

const MESSAGE_OPS: u32 = 64;

struct New<'a> {
    rank: u8,
    to: u8,
    job: &'a Job,
    payload: Payload,
    source: Slots,
    target: Slots,
    cells: u32,
    slices: u8,
}

fn post<P: Platform, T: Probe>(new: &New<'_>, ctx: &mut Ctx<'_, P, T>) -> OpId {
    let told = match ctx.config.scope.completion {
        Completion::Applied => Told::Nothing,
        Completion::Accepted => Told::Completed,
    };
    let transfer = Transfer {
        op: OpId(0),
        key: new.job.chunk.key,
        request: new.job.chunk.request,
        from: new.rank,
        to: new.to,
        payload: new.payload,
        source: new.source.clone(),
        target: new.target.clone(),
        cells: new.cells,
        slices: new.slices,
        landed: 0,
        landing: 0,
        told,
        abandoned: false,
        attempt: 0,
    };
    let site = if new.payload == Payload::Kv { Site::WorkerPost } else { Site::WorkerPostAux };
    launch(transfer, site, ctx)
}

/// The transport submits the same addresses again. What it submitted first goes on (transfer semantics K.1).
fn retry<P: Platform, T: Probe>(job: &mut Job, failed: Transfer, ctx: &mut Ctx<'_, P, T>) {
    let old = failed.op;
    let again = Transfer { landed: 0, landing: 0, told: Told::Nothing, attempt: failed.attempt + 1, ..failed };
    let new = launch(again, Site::WorkerRetry, ctx);
    ctx.world.fabric.with(|fabric| fabric.abandon(old));
    for op in &mut job.ops {
        if *op == old {
            *op = new;
        }
    }
}

fn launch<P: Platform, T: Probe>(mut transfer: Transfer, site: Site, ctx: &mut Ctx<'_, P, T>) -> OpId {
    let source = Some(ctx.config.cells(&transfer.source, transfer.cells));
    let target = Some(ctx.config.cells(&transfer.target, transfer.cells));
    let life = Config::life(transfer.request);
    let probe = &mut *ctx.probe;
    // One access: names are the model's own, so no two workers may race for one, and a write that can land has been
    // spoken of.
    ctx.world.fabric.with(|fabric| {
        let op = fabric.next_op();
        transfer.op = op;
        probe.emit(site, &Event::Post { op, life, source, target });
        fabric.post(transfer);
        op
    })
}
