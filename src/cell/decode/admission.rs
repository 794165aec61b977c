//! From the HTTP door to published pages: validation, doors, client aborts, preallocation (protocol D0 to D8).

use super::scheduler::{DecodeRank, DecodeRequest, DecodeScheduler, DecodeStage};
use super::shared::send_abort;
use crate::cell::balancer::{Reply, decode_reply};
use crate::cell::message::{Http, Queue, ToPrefill, TransferInfo};
use crate::cell::rejection::{Producer, Shape};
use crate::cell::room::Poll;
use crate::cell::site::Site;
use crate::cell::switch::Switch;
use crate::cell::world::{Config, Ctx, Group, Probe, row_index};
use crate::few::Few;
use crate::lifetime::{Event, Verdict};
use crate::platform::{Platform, Shared};

impl DecodeScheduler {
    /// What has come over HTTP, and out of the grammar queue.
    pub(super) fn ingest<P: Platform, T: Probe>(&mut self, ctx: &mut Ctx<'_, P, T>) {
        let mut at = 0;
        while at < self.requests.len() {
            if self.requests[at].stage == DecodeStage::Grammar && !self.admit(at, ctx) {
                self.requests.remove(at);
            } else {
                at += 1;
            }
        }
        for message in ctx.world.net.decode_http.with(Queue::take_all) {
            match message {
                Http::New(request) => self.accept(request, ctx),
                Http::Abort(request) => self.abort(request, ctx),
            }
        }
    }

    /// Validation: what would refuse this request here, and what the engine then does (protocol 7).
    fn accept<P: Platform, T: Probe>(&mut self, request: u8, ctx: &mut Ctx<'_, P, T>) {
        let spec = &ctx.config.scope.requests[usize::from(request)];
        let planted = spec.rejected.filter(|rejection| rejection.legs.decode()).map(|rejection| rejection.by);
        let wanted = spec.prompt.saturating_add(spec.max_new - 1);
        // The context bounds the prompt; new tokens past it are clipped. The pool must hold both.
        let scope = &ctx.config.scope;
        let too_long = spec.prompt > scope.context || wanted > scope.decode_pages * scope.page_size;
        let too_long = too_long.then_some(Producer::InputLength);
        // What only prefill's result can show is no concern of decode.
        let planted = planted.filter(|by| by.shape() != Shape::AtResult);
        let shape = planted.or(too_long).map(Producer::shape);
        let prompt = spec.prompt;
        if shape.is_some() {
            self.decide(request, Verdict::Rejected, Site::DecodeReject, ctx);
        }
        if shape == Some(Shape::Immediate) {
            refuse(request, ctx);
            return;
        }
        let placeholder = shape.is_some_and(Shape::replaces_prompt);
        self.requests.push(DecodeRequest {
            request,
            key: ctx.config.key(request),
            stage: DecodeStage::Grammar,
            handshaken: false,
            prompt: if placeholder { 1 } else { prompt },
            generated: 0,
            to_finish: placeholder.then_some(Verdict::Rejected),
            tokens_of: None,
            covered: 0,
            timer: None,
            ranks: Few::from_elem(DecodeRank::default(), self.pools.len()),
        });
        let at = self.requests.len() - 1;
        if shape != Some(Shape::PlaceholderFromGrammarQueue) && !self.admit(at, ctx) {
            self.requests.pop();
        }
    }

    /// D0 to D4: the door, the capacity check, the receiver. The early policy needs no handshake with prefill.
    fn admit<P: Platform, T: Probe>(&mut self, at: usize, ctx: &mut Ctx<'_, P, T>) -> bool {
        let (request, key) = (self.requests[at].request, self.requests[at].key);
        let refused = ctx.on(Switch::Door) && self.requests[at].to_finish.is_some();
        if refused || self.requests[at].prompt > ctx.config.scope.decode_limit() {
            refuse(request, ctx);
            return false;
        }
        for shared in &ctx.world.decode {
            shared.in_one_go(ctx.config, || {
                shared.update_status(key, Poll::Bootstrapping, ctx.config);
                shared.update_status(key, Poll::WaitingForInput, ctx.config);
            });
        }
        let limit = ctx.config.scope.timers.prealloc;
        let entry = &mut self.requests[at];
        entry.stage = DecodeStage::Prealloc;
        entry.timer = (limit > 0 && ctx.config.on(Switch::PreallocTimeout)).then_some(limit);
        true
    }

    /// `abort_request` (protocol 7): what it does depends on the queue that the request is in.
    fn abort<P: Platform, T: Probe>(&mut self, request: u8, ctx: &mut Ctx<'_, P, T>) {
        let Some(at) = self.at(request) else { return };
        match self.requests[at].stage {
            DecodeStage::Prealloc | DecodeStage::Transfer => self.abort_receiver(at, ctx),
            DecodeStage::Grammar | DecodeStage::Running => {
                self.requests[at].to_finish.get_or_insert(Verdict::Aborted);
            }
            DecodeStage::Held => {}
        }
    }

    /// `receiver.abort()`: the latch, the shared status where the version reaches it, and ABORT to prefill.
    pub(super) fn abort_receiver<P: Platform, T: Probe>(&mut self, at: usize, ctx: &mut Ctx<'_, P, T>) {
        let key = self.requests[at].key;
        for rank in 0..self.pools.len() {
            self.requests[at].ranks[rank].latch = Some(Poll::Failed);
            if ctx.on(Switch::AbortReachesTable) {
                let shared = &ctx.world.decode[rank];
                shared.in_one_go(ctx.config, || shared.update_status(key, Poll::Failed, ctx.config));
            }
            self.notify_abort(at, rank, ctx);
        }
        self.requests[at].to_finish.get_or_insert(Verdict::Aborted);
    }

    /// `_send_abort_notification` (CC:2977): arms the tracker, when metadata has been sent, and sends ABORT. Before
    /// 0.5.21 in the other order, and the scheduler can be overtaken between the two.
    pub(super) fn notify_abort<P: Platform, T: Probe>(&mut self, at: usize, rank: usize, ctx: &mut Ctx<'_, P, T>) {
        let published = self.requests[at].ranks[rank].pages.is_some();
        if !ctx.on(Switch::AbortMessage) || self.requests[at].ranks[rank].notified {
            return;
        }
        let key = self.requests[at].key;
        let held = &mut self.requests[at].ranks[rank];
        held.notified = true;
        held.arm_pending = published && !ctx.config.on(Switch::ArmedBeforeSend);
        if published && ctx.on(Switch::ArmedBeforeSend) {
            ctx.world.decode[rank].arm(key);
        }
        send_abort(rank as u8, key, ctx);
    }

    /// The second half of a notification that was sent before it was armed.
    pub(super) fn arm_late<P: Platform, T: Probe>(&mut self, ctx: &Ctx<'_, P, T>) {
        for request in &mut self.requests {
            for (held, shared) in request.ranks.iter_mut().zip(&ctx.world.decode) {
                if std::mem::take(&mut held.arm_pending) {
                    shared.arm(request.key);
                }
            }
        }
    }

    /// Whether the prealloc queue has something to do for `request`.
    pub(super) fn prealloc_is_ready<P: Platform, T: Probe>(
        &self,
        request: &DecodeRequest,
        earlier_waits: bool,
        ctx: &Ctx<'_, P, T>,
    ) -> bool {
        let over = request.timer == Some(0)
            || (self.prealloc_is_polled(ctx) && matches!(Self::poll(request, ctx), None | Some(Poll::Failed)));
        let unseen = !ctx.on(Switch::PreallocPolled) && !request.handshaken;
        over || unseen || (!earlier_waits && (0..self.pools.len()).any(|rank| self.fits(request, rank, ctx)))
    }

    fn fits<P: Platform, T: Probe>(&self, request: &DecodeRequest, rank: usize, ctx: &Ctx<'_, P, T>) -> bool {
        self.pools[rank].available() >= ctx.config.scope.pages(request.prompt) && self.rows[rank].available() > 0
    }

    /// D5 to D8: requests that failed are dropped; then the oldest that fits gets pages and a row, and prefill is told.
    pub(super) fn pop_preallocated<P: Platform, T: Probe>(&mut self, ctx: &mut Ctx<'_, P, T>) {
        let Some(polls) = self.poll_handshakes(ctx) else { return };
        for (request, poll) in &polls {
            let Some(at) = self.at(*request) else { continue };
            if *poll == Poll::Failed || self.requests[at].timer == Some(0) {
                self.drop_waiting(at, ctx);
            }
        }
        // A Success that a stale status brought (room reuse) is past the handshake too: pages are reserved.
        for (request, _) in polls {
            let Some(at) = self.at(request) else { continue };
            if !self.preallocate(at, ctx) {
                return;
            }
        }
    }

    /// Whether the prealloc queue is polled in this iteration: 0.5.11 does not, once every request in it has its handshake.
    fn prealloc_is_polled<P: Platform, T: Probe>(&self, ctx: &Ctx<'_, P, T>) -> bool {
        let waits = |request: &DecodeRequest| request.stage == DecodeStage::Prealloc && !request.handshaken;
        ctx.on(Switch::PreallocPolled) || self.requests.iter().any(waits)
    }

    /// `_update_handshake_waiters`: the statuses of the prealloc queue; of a queue that is not polled, that all have their handshake.
    fn poll_handshakes<P: Platform, T: Probe>(&mut self, ctx: &mut Ctx<'_, P, T>) -> Option<Few<(u8, Poll), 2>> {
        if !self.prealloc_is_polled(ctx) {
            let queued = self.requests.iter().filter(|request| request.stage == DecodeStage::Prealloc);
            return Some(queued.map(|request| (request.request, Poll::WaitingForInput)).collect());
        }
        let polls = self.poll_queue(DecodeStage::Prealloc, ctx)?;
        for (request, _) in polls.iter().filter(|(_, poll)| *poll != Poll::Failed) {
            if let Some(at) = self.at(*request) {
                self.requests[at].handshaken = !ctx.on(Switch::PreallocPolled);
            }
        }
        Some(polls)
    }

    /// D5, D6, D8: no pages yet, so nothing to hold. Prefill is told only with `notify_peer`.
    fn drop_waiting<P: Platform, T: Probe>(&mut self, at: usize, ctx: &mut Ctx<'_, P, T>) {
        let entry = self.requests.remove(at);
        let aborted = entry.to_finish == Some(Verdict::Aborted);
        let verdict = if aborted { Verdict::Aborted } else { self.failure_reason(&entry, ctx) };
        if !aborted {
            self.decide(entry.request, verdict, Site::DecodeReject, ctx);
        }
        for (rank, shared) in ctx.world.decode.iter().enumerate() {
            shared.clear_receiver(entry.key, ctx.config);
            shared.reasons.with(|reasons| reasons.remove(entry.key));
            if ctx.config.on(Switch::NotifyPeer) && !entry.ranks[rank].notified {
                send_abort(rank as u8, entry.key, ctx);
            }
        }
        decode_reply(entry.request, Reply::error(verdict), ctx);
    }

    /// What the client is owed when a transfer has failed.
    pub(super) fn failure_reason<P: Platform, T: Probe>(&self, entry: &DecodeRequest, ctx: &Ctx<'_, P, T>) -> Verdict {
        let told =
            ctx.world.decode.iter().find_map(|shared| shared.reasons.with(|reasons| reasons.get(entry.key).copied()));
        told.or(entry.to_finish.filter(|_| ctx.on(Switch::StickyReason))).unwrap_or(Verdict::Failed)
    }

    /// D7. Returns whether pages were reserved. Each rank looks at its own pool; that they agree is what
    /// `tp_agreement` and lockstep releases are for.
    fn preallocate<P: Platform, T: Probe>(&mut self, at: usize, ctx: &mut Ctx<'_, P, T>) -> bool {
        let (request, key, prompt) = (self.requests[at].request, self.requests[at].key, self.requests[at].prompt);
        let fits: Few<bool, 2> = (0..self.pools.len()).map(|rank| self.fits(&self.requests[at], rank, ctx)).collect();
        if !fits.iter().all(|fits| *fits) {
            if fits.iter().any(|fits| *fits) {
                self.come_apart(request, &fits, ctx);
            }
            return false;
        }
        let life = Config::life(request);
        for rank in 0..self.pools.len() {
            let pages = self.pools[rank].take(ctx.config.scope.pages(prompt));
            let (Some(pages), Some(row)) = (pages, self.rows[rank].take(1)) else { return false };
            ctx.emit(Site::DecodeAlloc, Event::Alloc { life, slots: pages.clone() });
            ctx.emit(Site::DecodeRow, Event::Alloc { life, slots: row.clone() });
            ctx.world.decode[rank].owners.with(|owners| owners[row_index(&row)] = Some(key));
            for to in ctx.config.scope.prefill_peers(rank as u8) {
                let info = TransferInfo { key, rank: rank as u8, pages: pages.clone(), row: row.clone() };
                ctx.world.to_prefill(rank as u8, to).with(|queue| queue.push(ToPrefill::Info(info)));
            }
            let held = &mut self.requests[at].ranks[rank];
            held.pages = Some(pages);
            held.row = Some(row);
        }
        let limit = ctx.config.scope.timers.waiting;
        self.requests[at].stage = DecodeStage::Transfer;
        self.requests[at].timer = (limit > 0).then_some(limit);
        true
    }

    /// Ranks that reserve for different requests are out of step for good: their collectives no longer match, and the
    /// scheduler hangs.
    fn come_apart<P: Platform, T: Probe>(&mut self, request: u8, fits: &[bool], ctx: &mut Ctx<'_, P, T>) {
        for (rank, fits) in fits.iter().enumerate() {
            let verdict = if *fits { Verdict::Success } else { Verdict::Aborted };
            let event =
                Event::Decide { life: Config::life(request), group: Group::Admission as u8, rank: rank as u8, verdict };
            ctx.emit(Site::Admission, event);
        }
        self.hang();
    }
}

/// An error is streamed; prefill is told only with `notify_peer` (D0, D1).
fn refuse<P: Platform, T: Probe>(request: u8, ctx: &mut Ctx<'_, P, T>) {
    decode_reply(request, Reply::error(Verdict::Rejected), ctx);
    if ctx.on(Switch::NotifyPeer) {
        for rank in 0..ctx.world.decode.len() as u8 {
            send_abort(rank, ctx.config.key(request), ctx);
        }
    }
}
