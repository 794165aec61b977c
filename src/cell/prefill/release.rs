//! The inflight queue, and how source pages go back (protocol P18 to P20, 6.1).

use super::scheduler::{PrefillRequest, PrefillScheduler, PrefillStage};
use super::shared::maybe_ack;
use crate::cell::balancer::{Reply, prefill_reply};
use crate::cell::room::{Poll, RoomKey};
use crate::cell::site::Site;
use crate::cell::switch::Switch;
use crate::cell::world::{Config, Ctx, Probe};
use crate::lifetime::{Event, Verdict};
use crate::platform::{Platform, Shared};

impl PrefillScheduler {
    /// Step 7 of the loop: requests whose last chunk has been queued.
    pub(super) fn poll_inflight<P: Platform, T: Probe>(&mut self, ctx: &mut Ctx<'_, P, T>) {
        let Some(polls) = self.poll_queue(|entry| entry.stage == PrefillStage::Inflight, ctx) else { return };
        for (request, poll) in polls {
            let Some(at) = self.at(request) else { continue };
            match poll {
                Poll::Success => self.finish(at, ctx),
                Poll::Failed => self.fail(at, Site::PrefillFailure, ctx),
                _ => {}
            }
        }
    }

    /// P18: everything has been sent. `to_finish` is not read here (#33507), so a rejected request ends as a success.
    fn finish<P: Platform, T: Probe>(&mut self, at: usize, ctx: &mut Ctx<'_, P, T>) {
        let entry = &self.requests[at];
        let (request, key, prompt) = (entry.request, entry.key, entry.prompt);
        let pending = entry.to_finish.filter(|_| ctx.on(Switch::StickyReason));
        let verdict = pending.unwrap_or(Verdict::Success);
        let reply = Reply { verdict, prompt_tokens: prompt, processed: Some(prompt), tokens_of: Some(request) };
        prefill_reply(request, reply, ctx);
        self.clear_sender(key, ctx);
        self.release(at, Site::PrefillFinish, ctx);
    }

    /// `sender.clear()` (CC:2409): the room leaves the table, and with it, before 0.5.21, who waits for its drain
    /// (public fault S16). With `notify_peer` a failed room stays as a tombstone for the handshake that is late.
    pub(super) fn clear_sender<P: Platform, T: Probe>(&self, key: RoomKey, ctx: &mut Ctx<'_, P, T>) {
        for rank in 0..ctx.world.prefill.len() as u8 {
            let shared = &ctx.world.prefill[usize::from(rank)];
            shared.in_one_go(ctx.config, || {
                let keep = ctx.on(Switch::NotifyPeer) && shared.status(key) == Some(Poll::Failed);
                if !keep {
                    shared.rooms.with(|rooms| rooms.remove(key));
                }
                if ctx.on(Switch::ClearForgetsInfos) {
                    shared.infos.with(|infos| infos.remove(key));
                }
                if ctx.on(Switch::KeepAckTargetOnClear) {
                    maybe_ack(rank, key, ctx);
                } else {
                    shared.targets.with(|targets| targets.remove(key));
                }
            });
        }
    }

    /// Gives back what request number `at` holds, now, or with `source_hold` once its workers have drained.
    pub(super) fn release<P: Platform, T: Probe>(&mut self, at: usize, site: Site, ctx: &mut Ctx<'_, P, T>) {
        if ctx.on(Switch::SourceHold) && !Self::drained(&self.requests[at], ctx) {
            self.requests[at].stage = PrefillStage::Held;
            return;
        }
        let entry = self.requests.remove(at);
        self.give_back(entry, site, ctx);
    }

    /// Held requests whose workers have drained on every rank.
    pub(super) fn release_held<P: Platform, T: Probe>(&mut self, ctx: &mut Ctx<'_, P, T>) {
        let mut at = 0;
        while at < self.requests.len() {
            if self.requests[at].stage == PrefillStage::Held && Self::drained(&self.requests[at], ctx) {
                let entry = self.requests.remove(at);
                self.give_back(entry, Site::PrefillHoldEnd, ctx);
            } else {
                at += 1;
            }
        }
    }

    /// Whether no worker of any rank has a chunk of `request` in hand.
    pub(super) fn drained<P: Platform, T: Probe>(request: &PrefillRequest, ctx: &Ctx<'_, P, T>) -> bool {
        ctx.world.prefill.iter().all(|shared| shared.in_one_go(ctx.config, || shared.drained(request.key)))
    }

    fn give_back<P: Platform, T: Probe>(&mut self, entry: PrefillRequest, site: Site, ctx: &mut Ctx<'_, P, T>) {
        let fifo = ctx.on(Switch::FifoReuse);
        let life = Config::life(entry.request);
        for (rank, held) in entry.ranks.into_iter().enumerate() {
            for (slots, pool) in [(held.pages, &mut self.pools[rank]), (held.row, &mut self.rows[rank])] {
                let Some(slots) = slots else { continue };
                pool.give(&slots, fifo);
                ctx.emit(site, Event::Free { life, slots });
            }
        }
    }

    /// The process is killed: everything that it holds is gone, and every open leg breaks.
    pub fn die<P: Platform, T: Probe>(&mut self, ctx: &mut Ctx<'_, P, T>) {
        for entry in std::mem::take(&mut self.requests) {
            let (request, answered) = (entry.request, entry.stage == PrefillStage::Held);
            self.give_back(entry, Site::PrefillDeath, ctx);
            if !answered {
                prefill_reply(request, Reply::error(Verdict::Failed), ctx);
            }
        }
        *self = Self::new(&ctx.config.scope);
    }
}
