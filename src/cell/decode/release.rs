//! Deferred release (protocol 6.2): slots wait until prefill says that its writers have drained, or until a timer says
//! nothing at all.

use super::scheduler::{DecodeRequest, DecodeScheduler, DecodeStage};
use super::shared::send_abort;
use crate::cell::site::Site;
use crate::cell::switch::Switch;
use crate::cell::world::{Ctx, Probe};
use crate::few::Few;
use crate::platform::{Platform, Shared};

/// Why a held rank may release.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ready {
    No,
    Drained,
    TimedOut,
}

impl DecodeScheduler {
    /// The end of D12: each rank that has notified prefill holds; with agreement all hold if one does (MAX).
    pub(super) fn defer_or_release<P: Platform, T: Probe>(&mut self, at: usize, ctx: &mut Ctx<'_, P, T>) {
        let deferrable = ctx.on(Switch::DeferByDefault);
        let mut holds: Few<bool, 2> = self.requests[at].ranks.iter().map(|rank| deferrable && rank.notified).collect();
        if ctx.on(Switch::TpAgreement) && holds.iter().any(|hold| *hold) {
            holds.fill(true);
        }
        let limit = ctx.config.scope.timers.release;
        for (rank, hold) in holds.iter().enumerate() {
            if *hold {
                self.requests[at].ranks[rank].release_timer = (limit > 0).then_some(limit);
            } else {
                self.release_rank(at, rank, Site::DecodeReleaseNow, ctx);
            }
        }
        if holds.contains(&true) {
            self.requests[at].stage = DecodeStage::Held;
            self.requests[at].timer = None;
        } else {
            self.requests.remove(at);
        }
    }

    /// Whether `resolve_deferred_releases` has something to do for `request`.
    pub(super) fn held_is_ready<P: Platform, T: Probe>(&self, request: &DecodeRequest, ctx: &Ctx<'_, P, T>) -> bool {
        let holding = || (0..request.ranks.len()).filter(|rank| request.ranks[*rank].pages.is_some());
        let asks = || ctx.on(Switch::TimeoutHolds) && holding().any(|rank| asks_again(request, rank, ctx));
        let releases = if ctx.on(Switch::TpAgreement) {
            holding().all(|rank| readiness(request, rank, ctx) != Ready::No)
        } else {
            holding().any(|rank| readiness(request, rank, ctx) != Ready::No)
        };
        releases || asks() || request.ranks.iter().any(|rank| rank.arm_pending)
    }

    /// D13, every iteration: releases what is drained or overdue, all ranks together where they agree (MIN).
    pub(super) fn resolve_deferred<P: Platform, T: Probe>(&mut self, ctx: &mut Ctx<'_, P, T>) {
        let mut at = 0;
        while at < self.requests.len() {
            if self.requests[at].stage == DecodeStage::Held {
                self.ask_again(at, ctx);
                self.release_ready_ranks(at, ctx);
                if self.requests[at].ranks.iter().all(|rank| rank.pages.is_none()) {
                    self.requests.remove(at);
                    continue;
                }
            }
            at += 1;
        }
    }

    fn release_ready_ranks<P: Platform, T: Probe>(&mut self, at: usize, ctx: &mut Ctx<'_, P, T>) {
        let entry = &self.requests[at];
        let ready: Few<Ready, 2> = (0..entry.ranks.len()).map(|rank| readiness(entry, rank, ctx)).collect();
        if ctx.on(Switch::TpAgreement) && ready.contains(&Ready::No) {
            return;
        }
        let overdue = ready.contains(&Ready::TimedOut);
        for (rank, ready) in ready.into_iter().enumerate() {
            if ready == Ready::No || self.requests[at].ranks[rank].pages.is_none() {
                continue;
            }
            let site = if overdue { Site::DecodeTimeout } else { Site::DecodeDrained };
            self.release_rank(at, rank, site, ctx);
            // It was cleared when the transfer failed, and is again: who has come into the room since loses it.
            ctx.world.decode[rank].clear_receiver(self.requests[at].key, ctx.config);
        }
    }

    /// `timeout_holds`: a timer that has passed proves nothing; prefill is asked again. A question since which nothing
    /// has been lost would find what the last one found, so it is left out; that keeps a hold that nobody will ever
    /// answer from asking for ever.
    fn ask_again<P: Platform, T: Probe>(&mut self, at: usize, ctx: &mut Ctx<'_, P, T>) {
        if !ctx.on(Switch::TimeoutHolds) {
            return;
        }
        let key = self.requests[at].key;
        for rank in 0..self.pools.len() {
            if asks_again(&self.requests[at], rank, ctx) {
                let held = &mut self.requests[at].ranks[rank];
                held.asked = Some(ctx.world.lost.with(|lost| *lost));
                held.release_timer = Some(ctx.config.scope.timers.release);
                send_abort(rank as u8, key, ctx);
            }
        }
    }

    /// `_do_release`: pages, row, tracker (CC:3018).
    pub(super) fn release_rank<P: Platform, T: Probe>(
        &mut self,
        at: usize,
        rank: usize,
        site: Site,
        ctx: &mut Ctx<'_, P, T>,
    ) {
        let (request, key) = (self.requests[at].request, self.requests[at].key);
        let held = &mut self.requests[at].ranks[rank];
        held.release_timer = None;
        let (pages, row) = (held.pages.take(), held.row.take());
        if let Some(pages) = pages {
            self.free_pages(rank, request, pages, site, ctx);
        }
        if let Some(row) = row {
            self.free_row(rank, request, row, site, ctx);
        }
        ctx.world.decode[rank].armed.with(|armed| armed.remove(key));
        ctx.world.decode[rank].reasons.with(|reasons| reasons.remove(key));
    }
}

fn asks_again<P: Platform, T: Probe>(request: &DecodeRequest, rank: usize, ctx: &Ctx<'_, P, T>) -> bool {
    let held = &request.ranks[rank];
    let lost_since = || held.asked.is_none_or(|before| before < ctx.world.lost.with(|lost| *lost));
    held.release_timer == Some(0) && held.pages.is_some() && lost_since()
}

/// Whether a rank may release what it holds: every prefill rank has acknowledged, or the timer is due. A rank that
/// holds only for a peer waits for nobody (`required_acks` is 0 there).
fn readiness<P: Platform, T: Probe>(request: &DecodeRequest, rank: usize, ctx: &Ctx<'_, P, T>) -> Ready {
    let held = &request.ranks[rank];
    let required = if held.notified { ctx.config.scope.prefill_peers(rank as u8).count() } else { 0 };
    if held.pages.is_none() || ctx.world.decode[rank].acks(request.key, ctx.config) >= required {
        Ready::Drained
    } else if held.release_timer == Some(0) && !ctx.on(Switch::TimeoutHolds) {
        Ready::TimedOut
    } else {
        Ready::No
    }
}
