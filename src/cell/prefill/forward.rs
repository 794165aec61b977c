//! Batches: pages are reserved, the forward fills them, its result sends them (protocol P8 to P12).
//!
//! A batch is one chunk of one request. The ordinary loop waits for its forward within the iteration; the overlapped
//! loop launches the next one first, and there a forward's end is a step of its own.

use super::scheduler::{Forward, PrefillRequest, PrefillScheduler, PrefillStage};
use super::send::send_chunk;
use crate::cell::balancer::{Reply, prefill_reply};
use crate::cell::message::RowContent;
use crate::cell::pool::{self, push_back};
use crate::cell::rejection::Shape;
use crate::cell::site::Site;
use crate::cell::switch::Switch;
use crate::cell::world::{Config, Ctx, Probe, row_index};
use crate::lifetime::{Cells, Event, Slots, Span, Spans, Verdict};
use crate::platform::{Platform, Shared};

/// How many forwards the overlapped loop keeps: the one that runs and the one whose result is handled meanwhile.
const OVERLAPPED: usize = 2;

impl PrefillScheduler {
    /// Whether `request` is the one of which the next batch will be made, and it can be made now.
    pub(super) fn launches<P: Platform, T: Probe>(&self, request: &PrefillRequest, ctx: &Ctx<'_, P, T>) -> bool {
        self.next_to_launch(ctx) == Some(request.request)
    }

    /// The request of the next batch: one that is half done first, else the oldest. `None` when nothing waits, the
    /// pool is too small for its next chunk, or the GPU has enough to do.
    fn next_to_launch<P: Platform, T: Probe>(&self, ctx: &Ctx<'_, P, T>) -> Option<u8> {
        let overlap = ctx.config.scope.overlap;
        if self.forwards.len() >= if overlap { OVERLAPPED } else { 1 } {
            return None;
        }
        // `process_pending_chunked_abort` (S:3778, 0.5.20) comes before the batch is made.
        let aborted = |entry: &PrefillRequest| {
            entry.to_finish == Some(Verdict::Aborted) && ctx.on(Switch::PrefillAbortAfterForward)
        };
        let open = |entry: &&PrefillRequest| {
            entry.launched < entry.prompt
                && !(entry.stage == PrefillStage::Forward && aborted(entry))
                && (entry.stage == PrefillStage::Waiting || overlap && entry.stage == PrefillStage::Forward)
        };
        let mut candidates = self.requests.iter().filter(open);
        let started = candidates.clone().find(|entry| entry.launched > 0);
        let next = started.or_else(|| candidates.next())?;
        let held = next.ranks[0].pages.as_ref().map_or(0, pool::count);
        let missing = ctx.config.scope.pages(chunk_end(next, ctx)) - held;
        self.pools.iter().all(|pool| pool.available() >= missing).then_some(next.request)
    }

    /// P8: makes a batch and launches it. The ordinary loop first sends the chunk of the batch before (P10).
    pub(super) fn launch<P: Platform, T: Probe>(&mut self, ctx: &mut Ctx<'_, P, T>) {
        if let Some(at) = self.requests.iter().position(|entry| has_unsent_chunk(entry, ctx)) {
            let launched = self.requests[at].launched;
            send_chunk(&mut self.requests[at], launched, false, ctx);
        }
        let Some(at) = self.next_to_launch(ctx).and_then(|request| self.at(request)) else { return };
        let end = chunk_end(&self.requests[at], ctx);
        self.reserve(at, end, ctx);
        let request = self.requests[at].request;
        if ctx.config.scope.overlap {
            let launched = self.requests[at].launched;
            if ctx.on(Switch::EarlySend) {
                // P9: what earlier forwards computed, or are about to, is sent while this one runs.
                send_chunk(&mut self.requests[at], launched, false, ctx);
            }
            self.requests[at].launched = end;
            self.requests[at].stage = PrefillStage::Forward;
            self.forwards.push(Forward { request, end, done: false });
        } else {
            self.requests[at].launched = end;
            self.compute(at, end, ctx);
            self.handle_result(request, end, ctx);
        }
    }

    fn reserve<P: Platform, T: Probe>(&mut self, at: usize, end: u32, ctx: &mut Ctx<'_, P, T>) {
        let entry = &mut self.requests[at];
        let wanted = ctx.config.scope.pages(end);
        for (held, free) in entry.ranks.iter_mut().zip(&mut self.pools) {
            let missing = wanted - held.pages.as_ref().map_or(0, pool::count);
            let Some(new) = free.take(missing) else { continue };
            let pages = held.pages.get_or_insert_with(|| Slots { place: new.place, runs: Spans::new() });
            for &run in &new.runs {
                push_back(&mut pages.runs, run);
            }
            ctx.emit(Site::PrefillAlloc, Event::Alloc { life: Config::life(entry.request), slots: new });
        }
    }

    /// The forward that ends at token `end` reads what earlier chunks computed, and writes its chunk's cells.
    fn compute<P: Platform, T: Probe>(&mut self, at: usize, end: u32, ctx: &mut Ctx<'_, P, T>) {
        let entry = &self.requests[at];
        let start = (end - 1) / ctx.config.scope.chunk * ctx.config.scope.chunk;
        for held in &entry.ranks {
            let Some(pages) = &held.pages else { continue };
            let (all, life) = (ctx.config.cells(pages, end), Config::life(entry.request));
            let part = |start, len| Cells { place: all.place, runs: pool::part(&all.runs, start, len) };
            if start > 0 {
                ctx.emit(Site::PrefillForward, Event::Read { life, cells: part(0, start) });
            }
            ctx.emit(Site::PrefillForward, Event::Write { life, cells: part(start, u32::MAX) });
        }
    }

    /// Whether a launched forward has not ended yet.
    #[must_use]
    pub fn forward_runs(&self) -> bool {
        self.forwards.iter().any(|forward| !forward.done)
    }

    /// The oldest forward that runs ends (overlapped loop only).
    pub fn end_forward<P: Platform, T: Probe>(&mut self, ctx: &mut Ctx<'_, P, T>) {
        let Some(index) = self.forwards.iter().position(|forward| !forward.done) else { return };
        let Forward { request, end, .. } = self.forwards[index];
        self.forwards[index].done = true;
        let Some(at) = self.at(request) else { return };
        self.compute(at, end, ctx);
        for shared in &ctx.world.prefill {
            shared.computed.with(|computed| computed[usize::from(request)] = end);
        }
    }

    /// Whether the loop's next act is to handle a result.
    pub(super) fn result_is_due<P: Platform, T: Probe>(&self, ctx: &Ctx<'_, P, T>) -> bool {
        let Some(oldest) = self.forwards.first() else { return false };
        oldest.done && (self.forwards.len() == OVERLAPPED || self.next_to_launch(ctx).is_none())
    }

    /// P10 to P12: the result of the forward that ended at token `end`.
    pub(super) fn handle_result<P: Platform, T: Probe>(&mut self, request: u8, end: u32, ctx: &mut Ctx<'_, P, T>) {
        let Some(at) = self.at(request) else { return };
        let last = end == self.requests[at].prompt;
        if last && refused_by_result(request, ctx) {
            self.requests[at].to_finish.get_or_insert(Verdict::Rejected);
            // Where the result is not retired, nobody acts on this decision.
            if !ctx.on(Switch::PrefillAbortAfterForward) {
                self.decide(request, Verdict::Rejected, Site::PrefillReject, ctx);
            }
        }
        if ctx.on(Switch::PrefillAbortAfterForward) && self.requests[at].to_finish.is_some() {
            self.retire(at, ctx);
        } else if last {
            self.fill_row(at, ctx);
            self.requests[at].stage = PrefillStage::Inflight;
            send_chunk(&mut self.requests[at], end, true, ctx);
        } else {
            let runs = self.forwards.iter().any(|forward| forward.request == request);
            self.requests[at].stage = if runs { PrefillStage::Forward } else { PrefillStage::Waiting };
            if ctx.config.scope.overlap {
                send_chunk(&mut self.requests[at], end, false, ctx);
            }
        }
    }

    /// P12: the result is dropped, the sender told locally, the pages released. A forward that still runs for this
    /// request keeps it until its result is dropped too.
    fn retire<P: Platform, T: Probe>(&mut self, at: usize, ctx: &mut Ctx<'_, P, T>) {
        let request = self.requests[at].request;
        if self.forwards.iter().any(|forward| forward.request == request) {
            return;
        }
        let verdict = self.requests[at].to_finish.unwrap_or(Verdict::Aborted);
        self.abort_sender(at, verdict, ctx);
        prefill_reply(request, Reply::error(verdict), ctx);
        // What is answered is what is decided: until then, another reason may come first.
        if verdict == Verdict::Rejected {
            self.decide(request, verdict, Site::PrefillReject, ctx);
        }
        self.release(at, Site::PrefillRetire, ctx);
    }

    /// P11: `set_buf`.
    fn fill_row<P: Platform, T: Probe>(&mut self, at: usize, ctx: &mut Ctx<'_, P, T>) {
        let entry = &self.requests[at];
        for (rank, held) in entry.ranks.iter().enumerate() {
            let Some(row) = &held.row else { continue };
            let content = RowContent { room: entry.key.room(), request: Some(entry.request), covered: entry.prompt };
            ctx.world.prefill[rank].rows.with(|rows| rows[row_index(row)] = content);
            let cells = Cells { place: row.place, runs: Spans::from_slice(&[Span::new(row.runs[0].start, 1)]) };
            ctx.emit(Site::PrefillSetBuf, Event::Write { life: Config::life(entry.request), cells });
        }
    }
}

/// Whether the ordinary loop has computed a chunk of `entry` that it has not sent: it does so when it makes the next batch.
pub(super) fn has_unsent_chunk<P: Platform, T: Probe>(entry: &PrefillRequest, ctx: &Ctx<'_, P, T>) -> bool {
    let page_size = ctx.config.scope.page_size;
    !ctx.config.scope.overlap
        && entry.stage == PrefillStage::Waiting
        && entry.launched / page_size * page_size > entry.sent
}

/// Where the next chunk of `entry` ends.
fn chunk_end<P: Platform, T: Probe>(entry: &PrefillRequest, ctx: &Ctx<'_, P, T>) -> u32 {
    entry.prompt.min(entry.launched.saturating_add(ctx.config.scope.chunk))
}

/// Whether the scope plants a rejection that shows in the result (`discard_output_reason`).
fn refused_by_result<P: Platform, T: Probe>(request: u8, ctx: &Ctx<'_, P, T>) -> bool {
    let planted = ctx.config.scope.requests[usize::from(request)].rejected;
    planted.is_some_and(|rejection| rejection.legs.prefill() && rejection.by.shape() == Shape::AtResult)
}
