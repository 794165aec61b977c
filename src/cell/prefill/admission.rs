//! From the HTTP door to the waiting queue: validation, doors, bootstrap, client aborts (protocol P0 to P7).

use super::scheduler::{PrefillRequest, PrefillScheduler, PrefillStage, RankHold};
use super::shared::send_status;
use crate::cell::balancer::{Reply, prefill_reply};
use crate::cell::message::{Http, Queue};
use crate::cell::rejection::{Producer, Shape};
use crate::cell::room::{Poll, RoomKey};
use crate::cell::site::Site;
use crate::cell::switch::Switch;
use crate::cell::world::{Config, Ctx, Probe};
use crate::few::Few;
use crate::lifetime::{Event, Verdict};
use crate::platform::{Platform, Shared};

impl PrefillScheduler {
    /// Step 1 of the loop: what has come over HTTP, and out of the grammar queue.
    pub(super) fn ingest<P: Platform, T: Probe>(&mut self, ctx: &mut Ctx<'_, P, T>) {
        let mut at = 0;
        while at < self.requests.len() {
            if self.requests[at].stage == PrefillStage::Grammar && !self.admit(at, ctx) {
                self.requests.remove(at);
            } else {
                at += 1;
            }
        }
        for message in ctx.world.net.prefill_http.with(Queue::take_all) {
            match message {
                Http::New(request) => self.accept(request, ctx),
                Http::Abort(request) => self.abort(request, ctx),
            }
        }
    }

    /// Validation: what would refuse this request here, and what the engine then does (protocol 7).
    fn accept<P: Platform, T: Probe>(&mut self, request: u8, ctx: &mut Ctx<'_, P, T>) {
        let spec = &ctx.config.scope.requests[usize::from(request)];
        let planted = spec.rejected.filter(|rejection| rejection.legs.prefill()).map(|rejection| rejection.by);
        let too_long = (spec.prompt > ctx.config.scope.prefill_limit()).then_some(Producer::InputLength);
        // A prompt that is too long never gets as far as a result that would refuse it.
        let planted = planted.filter(|by| too_long.is_none() || by.shape() != Shape::AtResult);
        let shape = planted.or(too_long).map(Producer::shape);
        let prompt = spec.prompt;
        if shape == Some(Shape::Immediate) {
            self.refuse(request, ctx);
            return;
        }
        let placeholder = shape.is_some_and(Shape::replaces_prompt);
        // Behind a door the decision is made there. Without one it is made here, and nobody acts on it.
        if shape.is_some_and(|shape| shape != Shape::AtResult) && !(placeholder && ctx.on(Switch::Door)) {
            self.decide(request, Verdict::Rejected, Site::PrefillReject, ctx);
        }
        self.requests.push(PrefillRequest {
            request,
            key: ctx.config.key(request),
            stage: PrefillStage::Grammar,
            prompt: if placeholder { 1 } else { prompt },
            to_finish: placeholder.then_some(Verdict::Rejected),
            launched: 0,
            sent: 0,
            timer: None,
            ranks: Few::from_elem(RankHold::default(), self.pools.len()),
        });
        let at = self.requests.len() - 1;
        if shape != Some(Shape::PlaceholderFromGrammarQueue) && !self.admit(at, ctx) {
            self.requests.pop();
        }
    }

    /// P0 to P2: the door, the capacity check, the sender. Returns whether the request was queued.
    fn admit<P: Platform, T: Probe>(&mut self, at: usize, ctx: &mut Ctx<'_, P, T>) -> bool {
        let (request, key) = (self.requests[at].request, self.requests[at].key);
        if ctx.on(Switch::Door) && self.requests[at].to_finish.is_some() {
            self.refuse(request, ctx);
            return false;
        }
        // `_check_if_req_exceed_kv_capacity` (P1) looks at the prompt of now: a placeholder passes.
        if self.requests[at].prompt > ctx.config.scope.prefill_limit() {
            self.refuse(request, ctx);
            return false;
        }
        for shared in &ctx.world.prefill {
            shared.in_one_go(ctx.config, || shared.update_status(key, Poll::Bootstrapping, ctx.config));
        }
        let limit = ctx.config.scope.timers.bootstrap;
        let entry = &mut self.requests[at];
        entry.stage = PrefillStage::Bootstrap;
        entry.timer = (limit > 0).then_some(limit);
        true
    }

    /// An error is streamed and nothing else happens: no sender, and decode is not told (P0, P1). What is answered is
    /// what is decided: until then, another reason may come first.
    fn refuse<P: Platform, T: Probe>(&self, request: u8, ctx: &mut Ctx<'_, P, T>) {
        prefill_reply(request, Reply::error(Verdict::Rejected), ctx);
        self.decide(request, Verdict::Rejected, Site::PrefillReject, ctx);
        tell_peers(ctx.config.key(request), Verdict::Rejected, ctx);
    }

    /// `abort_request` (protocol 7): what it does depends on the queue that the request is in.
    fn abort<P: Platform, T: Probe>(&mut self, request: u8, ctx: &mut Ctx<'_, P, T>) {
        let Some(at) = self.at(request) else { return };
        match self.requests[at].stage {
            PrefillStage::Bootstrap | PrefillStage::Inflight => self.abort_sender(at, Verdict::Aborted, ctx),
            // A request between two chunks is in no queue, and before 0.5.20 an abort does not find it.
            PrefillStage::Waiting if !self.requests[at].is_waiting() && !ctx.on(Switch::PrefillAbortAfterForward) => {}
            PrefillStage::Waiting => {
                self.abort_sender(at, Verdict::Aborted, ctx);
                prefill_reply(request, Reply::error(Verdict::Aborted), ctx);
                self.release(at, Site::PrefillDequeue, ctx);
            }
            PrefillStage::Grammar | PrefillStage::Forward => {
                self.requests[at].to_finish.get_or_insert(Verdict::Aborted);
            }
            PrefillStage::Held => {}
        }
    }

    /// `sender.abort()`: the caller's latch, and where the version does so the shared status (public fault S36).
    pub(super) fn abort_sender<P: Platform, T: Probe>(&mut self, at: usize, verdict: Verdict, ctx: &mut Ctx<'_, P, T>) {
        let key = self.requests[at].key;
        for (rank, held) in self.requests[at].ranks.iter_mut().enumerate() {
            held.latch = Some(Poll::Failed);
            if ctx.config.on(Switch::AbortReachesTable) {
                let shared = &ctx.world.prefill[rank];
                shared.in_one_go(ctx.config, || shared.update_status(key, Poll::Failed, ctx.config));
            }
        }
        tell_peers(key, verdict, ctx);
    }

    /// P4 to P6: the bootstrap queue.
    pub(super) fn pop_bootstrapped<P: Platform, T: Probe>(&mut self, ctx: &mut Ctx<'_, P, T>) {
        let Some(polls) = self.poll_queue(|entry| entry.stage == PrefillStage::Bootstrap, ctx) else { return };
        for (request, poll) in polls {
            let Some(at) = self.at(request) else { continue };
            match poll {
                Poll::Bootstrapping => {}
                Poll::WaitingForInput => self.take_row(at, ctx),
                Poll::Failed => self.fail(at, Site::PrefillDequeue, ctx),
                Poll::Transferring | Poll::Success => return self.crash(at, Site::PrefillPollState, ctx),
            }
        }
    }

    /// P4: a request leaves the bootstrap queue when every rank has a metadata row for it.
    fn take_row<P: Platform, T: Probe>(&mut self, at: usize, ctx: &mut Ctx<'_, P, T>) {
        if self.rows.iter().any(|rows| rows.available() == 0) {
            return;
        }
        let entry = &mut self.requests[at];
        for (held, rows) in entry.ranks.iter_mut().zip(&mut self.rows) {
            let Some(row) = rows.take(1) else { continue };
            held.row = Some(row.clone());
            ctx.emit(Site::PrefillRow, Event::Alloc { life: Config::life(entry.request), slots: row });
        }
        entry.stage = PrefillStage::Waiting;
        entry.timer = None;
    }

    /// P7: the waiting queue, polled before a batch is made of it. A request that is half computed is not in it: what has
    /// become of its room shows when it is in the inflight queue.
    pub(super) fn resolve_waiting<P: Platform, T: Probe>(&mut self, ctx: &mut Ctx<'_, P, T>) {
        if !ctx.on(Switch::WaitingPolled) {
            return;
        }
        let Some(polls) = self.poll_queue(PrefillRequest::is_waiting, ctx) else { return };
        for (request, _) in polls.into_iter().filter(|(_, poll)| *poll == Poll::Failed) {
            if let Some(at) = self.at(request) {
                self.fail(at, Site::PrefillDequeue, ctx);
            }
        }
    }

    /// A request whose transfer has failed: answered, released, its room cleared.
    pub(super) fn fail<P: Platform, T: Probe>(&mut self, at: usize, site: Site, ctx: &mut Ctx<'_, P, T>) {
        let (request, key) = (self.requests[at].request, self.requests[at].key);
        let pending = self.requests[at].to_finish.filter(|_| ctx.on(Switch::StickyReason));
        let verdict = pending.unwrap_or(Verdict::Failed);
        self.decide(request, verdict, site, ctx);
        prefill_reply(request, Reply::error(verdict), ctx);
        tell_peers(key, verdict, ctx);
        self.clear_sender(key, ctx);
        self.release(at, site, ctx);
    }
}

/// `notify_peer`: decode hears of a failure at once, or, when its handshake has not come yet, in answer to that.
fn tell_peers<P: Platform, T: Probe>(key: RoomKey, verdict: Verdict, ctx: &mut Ctx<'_, P, T>) {
    if !ctx.on(Switch::NotifyPeer) {
        return;
    }
    for rank in 0..ctx.world.prefill.len() as u8 {
        let (world, config) = (ctx.world, ctx.config);
        world.prefill[usize::from(rank)].in_one_go(config, || tell_peers_of(rank, key, verdict, ctx));
    }
}

fn tell_peers_of<P: Platform, T: Probe>(rank: u8, key: RoomKey, verdict: Verdict, ctx: &mut Ctx<'_, P, T>) {
    let shared = &ctx.world.prefill[usize::from(rank)];
    shared.rooms.with(|rooms| rooms.set(key, Poll::Failed));
    let first = shared.reasons.with(|reasons| {
        let first = reasons.get(key).is_none();
        if first {
            reasons.set(key, verdict);
        }
        first
    });
    let peers = shared.infos.with(|infos| infos.get(key).cloned()).unwrap_or_default();
    for peer in peers.iter().filter(|_| first) {
        send_status(rank, peer.rank, key, Some(verdict), ctx);
    }
}
