//! The running batch: steps read the whole context and grow it by a token (protocol D14 to D16).

use super::scheduler::{DecodeScheduler, DecodeStage};
use crate::cell::balancer::{Reply, decode_reply};
use crate::cell::pool::{self, push_back};
use crate::cell::site::Site;
use crate::cell::world::{Config, Ctx, Probe};
use crate::lifetime::{Cells, Event, Verdict};
use crate::platform::Platform;

impl DecodeScheduler {
    /// One decode step of the whole batch. Requests that are done leave first, as `update_finish_state` has it.
    pub(super) fn run_batch<P: Platform, T: Probe>(&mut self, ctx: &mut Ctx<'_, P, T>) {
        self.leave_finished(ctx);
        self.make_room(ctx);
        for at in 0..self.requests.len() {
            if self.requests[at].stage == DecodeStage::Running {
                self.step(at, ctx);
            }
        }
        self.leave_finished(ctx);
    }

    fn leave_finished<P: Platform, T: Probe>(&mut self, ctx: &mut Ctx<'_, P, T>) {
        let mut at = 0;
        while at < self.requests.len() {
            let entry = &self.requests[at];
            let limit = ctx.config.scope.requests[usize::from(entry.request)].max_new;
            let pending = entry.to_finish;
            if entry.stage == DecodeStage::Running && (pending.is_some() || entry.generated >= limit) {
                let site = if pending.is_some() { Site::DecodeAbortRunning } else { Site::DecodeFinish };
                self.leave(at, pending.unwrap_or(Verdict::Success), site, ctx);
            } else {
                at += 1;
            }
        }
    }

    /// Answers and releases. The usage is the request's own prompt; what prefill processed is a fact of its own.
    fn leave<P: Platform, T: Probe>(&mut self, at: usize, verdict: Verdict, site: Site, ctx: &mut Ctx<'_, P, T>) {
        let entry = &self.requests[at];
        let (request, covered, tokens_of) = (entry.request, entry.covered, entry.tokens_of);
        let prompt_tokens = entry.prompt;
        for rank in 0..self.pools.len() {
            self.release_rank(at, rank, site, ctx);
        }
        self.requests.remove(at);
        decode_reply(request, Reply { verdict, prompt_tokens, processed: Some(covered), tokens_of }, ctx);
    }

    /// A batch that does not fit loses its youngest requests (retraction without a backup, `none`: aborted with 503).
    fn make_room<P: Platform, T: Probe>(&mut self, ctx: &mut Ctx<'_, P, T>) {
        loop {
            let growing = |entry: &&super::DecodeRequest| entry.stage == DecodeStage::Running && needs_page(entry, ctx);
            let missing = self.requests.iter().filter(growing).count() as u32;
            if self.pools.iter().all(|pool| pool.available() >= missing) {
                return;
            }
            let Some(youngest) = self.requests.iter().rposition(|entry| entry.stage == DecodeStage::Running) else {
                return;
            };
            self.decide(self.requests[youngest].request, Verdict::Failed, Site::DecodeOutOfMemory, ctx);
            self.leave(youngest, Verdict::Failed, Site::DecodeOutOfMemory, ctx);
        }
    }

    /// One request's part of the step: a page if the next token needs one, the read of the context, the new token.
    fn step<P: Platform, T: Probe>(&mut self, at: usize, ctx: &mut Ctx<'_, P, T>) {
        let entry = &self.requests[at];
        let (grows, life) = (needs_page(entry, ctx), Config::life(entry.request));
        let context = entry.prompt + entry.generated - 1;
        for rank in 0..self.pools.len() {
            let new = if grows { self.pools[rank].take(1) } else { None };
            let Some(pages) = &mut self.requests[at].ranks[rank].pages else { continue };
            if let Some(new) = new {
                push_back(&mut pages.runs, new.runs[0]);
                ctx.emit(Site::DecodeGrow, Event::Alloc { life, slots: new });
            }
            let all = ctx.config.cells(pages, context + 1);
            let read = Cells { place: all.place, runs: pool::part(&all.runs, 0, context) };
            let written = Cells { place: all.place, runs: pool::part(&all.runs, context, 1) };
            ctx.emit(Site::DecodeStep, Event::Read { life, cells: read });
            ctx.emit(Site::DecodeStep, Event::Write { life, cells: written });
        }
        self.requests[at].generated += 1;
    }
}

/// Whether the next token of `entry` starts a page.
fn needs_page<P: Platform, T: Probe>(entry: &super::DecodeRequest, ctx: &Ctx<'_, P, T>) -> bool {
    (entry.prompt + entry.generated - 1).is_multiple_of(ctx.config.scope.page_size)
}
