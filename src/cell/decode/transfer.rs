//! The transfer queue: commit, or failure (protocol D9 to D12).

use super::scheduler::{DecodeScheduler, DecodeStage};
use crate::cell::balancer::{Reply, decode_reply};
use crate::cell::message::RowContent;
use crate::cell::room::Poll;
use crate::cell::site::Site;
use crate::cell::switch::Switch;
use crate::cell::world::{Config, Ctx, Probe, row_index};
use crate::lifetime::{Event, Verdict};
use crate::platform::{Platform, Shared};

/// What the ranks make of their metadata rows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Handoff {
    Good,
    WrongRoom,
    WrongLength,
}

impl DecodeScheduler {
    /// `pop_transferred`: every request whose pages are out.
    pub(super) fn pop_transferred<P: Platform, T: Probe>(&mut self, ctx: &mut Ctx<'_, P, T>) {
        let Some(polls) = self.poll_queue(DecodeStage::Transfer, ctx) else { return };
        for (request, poll) in polls {
            let Some(at) = self.at(request) else { continue };
            match poll {
                Poll::Success => self.commit(at, ctx),
                Poll::Failed => self.fail_transfer(at, ctx),
                _ => {}
            }
        }
    }

    /// D10: the waiting timer is due; the room fails, and prefill is told.
    pub(super) fn time_out<P: Platform, T: Probe>(&mut self, at: usize, ctx: &mut Ctx<'_, P, T>) {
        let key = self.requests[at].key;
        for rank in 0..self.pools.len() {
            self.requests[at].ranks[rank].latch = Some(Poll::Failed);
            let shared = &ctx.world.decode[rank];
            shared.in_one_go(ctx.config, || shared.update_status(key, Poll::Failed, ctx.config));
            self.notify_abort(at, rank, ctx);
        }
    }

    /// D11. What is validated is the row's room; no release compares a page or token count.
    fn commit<P: Platform, T: Probe>(&mut self, at: usize, ctx: &mut Ctx<'_, P, T>) {
        let (request, key, prompt) = (self.requests[at].request, self.requests[at].key, self.requests[at].prompt);
        let life = Config::life(request);
        let mut handoff = Handoff::Good;
        for rank in 0..self.pools.len() {
            let Some(row) = self.requests[at].ranks[rank].row.clone() else { continue };
            let content: RowContent = ctx.world.decode[rank].rows.with(|rows| rows[row_index(&row)]);
            if content.room == 0 || (ctx.on(Switch::MetadataRoomCheck) && content.room != key.room()) {
                handoff = Handoff::WrongRoom;
                break;
            }
            if ctx.on(Switch::LengthCheck) && content.covered != prompt {
                handoff = Handoff::WrongLength;
                break;
            }
            let cells = ctx.config.cells(&row, 1);
            ctx.emit(Site::DecodeCommit, Event::Read { life, cells });
            self.requests[at].tokens_of = content.request;
            self.requests[at].covered = content.covered;
        }
        match handoff {
            Handoff::Good => self.accept_handoff(at, ctx),
            Handoff::WrongRoom => self.refuse_corrupt(at, ctx),
            Handoff::WrongLength => {
                self.decide(request, Verdict::Failed, Site::DecodeLength, ctx);
                self.fail_transfer(at, ctx);
            }
        }
    }

    fn accept_handoff<P: Platform, T: Probe>(&mut self, at: usize, ctx: &mut Ctx<'_, P, T>) {
        let (request, key) = (self.requests[at].request, self.requests[at].key);
        for rank in 0..self.pools.len() {
            if let Some(row) = self.requests[at].ranks[rank].row.take() {
                self.free_row(rank, request, row, Site::DecodeCommitRow, ctx);
            }
            ctx.world.decode[rank].clear_receiver(key, ctx.config);
        }
        let entry = &mut self.requests[at];
        entry.stage = DecodeStage::Running;
        entry.timer = None;
        entry.generated = 1;
    }

    /// "Context corruption": aborted and released at once, in every version (D11, protocol 6.1).
    fn refuse_corrupt<P: Platform, T: Probe>(&mut self, at: usize, ctx: &mut Ctx<'_, P, T>) {
        let (request, key) = (self.requests[at].request, self.requests[at].key);
        self.decide(request, Verdict::Failed, Site::DecodeCorruption, ctx);
        decode_reply(request, Reply::error(Verdict::Failed), ctx);
        for rank in 0..self.pools.len() {
            self.release_rank(at, rank, Site::DecodeCorruption, ctx);
            ctx.world.decode[rank].clear_receiver(key, ctx.config);
        }
        self.requests.remove(at);
    }

    /// D12: the client is answered; then the slots are held for acknowledgements or released at once.
    fn fail_transfer<P: Platform, T: Probe>(&mut self, at: usize, ctx: &mut Ctx<'_, P, T>) {
        let (request, key) = (self.requests[at].request, self.requests[at].key);
        let aborted = self.requests[at].to_finish == Some(Verdict::Aborted);
        let verdict = if aborted { Verdict::Aborted } else { self.failure_reason(&self.requests[at], ctx) };
        if !aborted {
            self.decide(request, verdict, Site::DecodeReleaseNow, ctx);
        }
        decode_reply(request, Reply::error(verdict), ctx);
        for rank in 0..self.pools.len() {
            ctx.world.decode[rank].clear_receiver(key, ctx.config);
            if ctx.on(Switch::DeferAllFailures) {
                self.notify_abort(at, rank, ctx);
            }
        }
        self.defer_or_release(at, ctx);
    }
}
