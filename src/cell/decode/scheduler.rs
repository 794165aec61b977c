//! The decode scheduler loop (protocol 3.2), one iteration a step, all ranks in lockstep.

use crate::cell::message::RowContent;
use crate::cell::pool::{self, Pool};
use crate::cell::room::{Poll, RoomKey};
use crate::cell::scope::Scope;
use crate::cell::site::Site;
use crate::cell::switch::Switch;
use crate::cell::world::{Config, Ctx, Group, Probe, decode_node, place, row_index};
use crate::few::{Few, clone_by_field};
use crate::lifetime::{Arena, Event, Slots, Verdict};
use crate::platform::{Platform, Shared};

/// Which queue a request is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DecodeStage {
    /// The grammar queue: out of it in the next iteration.
    Grammar,
    /// The prealloc queue: no pages yet.
    Prealloc,
    /// The transfer queue: pages are reserved and prefill knows them.
    Transfer,
    /// The running batch.
    Running,
    /// `_deferred_releases`: answered; its slots wait for acknowledgements.
    Held,
}

/// What a rank holds for a request.
#[derive(Debug, Default, PartialEq, Eq, Hash)]
pub struct DecodeRank {
    /// Destination pages, in token order.
    pub pages: Option<Slots>,
    /// The metadata row.
    pub row: Option<Slots>,
    /// The receiver's sticky conclusion.
    pub latch: Option<Poll>,
    /// `abort_notified`: ABORT has been sent.
    pub notified: bool,
    /// ABORT has been sent and the tracker is armed only in the next iteration (before 0.5.21).
    pub arm_pending: bool,
    /// Remaining time of the release timer, while held.
    pub release_timer: Option<u8>,
    /// How many messages had been lost when ABORT was last sent again (`timeout_holds` only).
    pub asked: Option<u8>,
}

clone_by_field!(DecodeRank { pages, row, latch, notified, arm_pending, release_timer, asked });

/// A request at decode.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct DecodeRequest {
    /// Which.
    pub request: u8,
    /// Its room.
    pub key: RoomKey,
    /// Which queue it is in.
    pub stage: DecodeStage,
    /// `waiting_for_input`: a poll of the prealloc queue has seen its handshake. Kept only where something depends on it.
    pub handshaken: bool,
    /// Its prompt, as this scheduler sees it.
    pub prompt: u32,
    /// Tokens that have been generated, prefill's included.
    pub generated: u32,
    /// `to_finish`: a verdict that is pending.
    pub to_finish: Option<Verdict>,
    /// Whose first token the metadata row held.
    pub tokens_of: Option<u8>,
    /// How many prompt tokens prefill says it has processed.
    pub covered: u32,
    /// Remaining time of the prealloc or waiting timer.
    pub timer: Option<u8>,
    /// What each rank holds.
    pub ranks: Few<DecodeRank, 1>,
}

clone_by_field!(DecodeRequest {
    request,
    key,
    stage,
    handshaken,
    prompt,
    generated,
    to_finish,
    tokens_of,
    covered,
    timer,
    ranks
});

/// The scheduler of all decode ranks.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct DecodeScheduler {
    pub(super) requests: Few<DecodeRequest, 2>,
    pub(in crate::cell) pools: Few<Pool, 1>,
    pub(in crate::cell) rows: Few<Pool, 1>,
    crashed: bool,
}

clone_by_field!(DecodeScheduler { requests, pools, rows, crashed });

impl DecodeScheduler {
    /// A scheduler that has just started.
    #[must_use]
    pub fn new(scope: &Scope) -> Self {
        let pool = |arena, size| {
            (0..scope.decode_ranks).map(|rank| Pool::new(place(decode_node(rank), arena), size)).collect()
        };
        Self {
            requests: Few::new(),
            pools: pool(Arena::KvPage, scope.decode_pages),
            rows: pool(Arena::MetadataRow, scope.metadata_rows),
            crashed: false,
        }
    }

    /// The requests, oldest first.
    #[must_use]
    pub fn requests(&self) -> &[DecodeRequest] {
        &self.requests
    }

    /// Whether the process has died of its own error.
    #[must_use]
    pub const fn crashed(&self) -> bool {
        self.crashed
    }

    /// Whether [`tick`](Self::tick) would do something.
    pub fn ready<P: Platform, T: Probe>(&self, ctx: &Ctx<'_, P, T>) -> bool {
        if self.crashed {
            return false;
        }
        if !ctx.world.net.decode_http.with(|queue| queue.is_empty()) {
            return true;
        }
        let mut earlier_waits = false;
        self.requests.iter().any(|request| match request.stage {
            DecodeStage::Grammar | DecodeStage::Running => true,
            DecodeStage::Prealloc => {
                let ready = self.prealloc_is_ready(request, earlier_waits, ctx);
                earlier_waits = true;
                ready
            }
            DecodeStage::Transfer => {
                let polled = match Self::poll(request, ctx) {
                    Some(Poll::WaitingForInput) => request.timer == Some(0),
                    Some(Poll::Bootstrapping | Poll::Transferring) => false,
                    None | Some(Poll::Failed | Poll::Success) => true,
                };
                polled || request.ranks.iter().any(|rank| rank.arm_pending)
            }
            DecodeStage::Held => self.held_is_ready(request, ctx),
        })
    }

    /// One iteration of the loop.
    pub fn tick<P: Platform, T: Probe>(&mut self, ctx: &mut Ctx<'_, P, T>) {
        if self.crashed {
            return;
        }
        self.arm_late(ctx);
        self.ingest(ctx);
        self.resolve_deferred(ctx);
        self.pop_preallocated(ctx);
        // A process that has died, or hangs, does not finish its iteration.
        if !self.crashed {
            self.pop_transferred(ctx);
        }
        if !self.crashed {
            self.run_batch(ctx);
        }
    }

    /// Time passes: every timer that runs comes one unit closer.
    pub fn elapse(&mut self) {
        for request in &mut self.requests {
            let release = request.ranks.iter_mut().filter_map(|rank| rank.release_timer.as_mut());
            for left in request.timer.iter_mut().chain(release) {
                *left = left.saturating_sub(1);
            }
        }
    }

    /// Whether a timer runs that is not due yet.
    #[must_use]
    pub fn timer_runs(&self) -> bool {
        self.requests.iter().any(|request| {
            let release = request.ranks.iter().filter_map(|rank| rank.release_timer);
            request.timer.into_iter().chain(release).any(|left| left > 0)
        })
    }

    /// The room's status as the ranks agree on it (MIN), behind the metadata gate (protocol 1); `None`: some rank has no
    /// such room.
    pub(super) fn poll<P: Platform, T: Probe>(request: &DecodeRequest, ctx: &Ctx<'_, P, T>) -> Option<Poll> {
        let statuses = request.ranks.iter().zip(&ctx.world.decode).map(|(rank, shared)| {
            let status = rank.latch.or_else(|| shared.status(request.key))?;
            let unwritten = || {
                let row = rank.row.as_ref()?;
                Some(shared.rows.with(|rows| rows[row_index(row)].room == 0))
            };
            let gated = status == Poll::Success && ctx.on(Switch::MetadataGate) && unwritten() == Some(true);
            Some(if gated { Poll::Transferring } else { status })
        });
        statuses.min().flatten()
    }

    /// The statuses of a whole queue, taken before any of them is acted on: the ranks agree on all at once
    /// (`poll_and_all_reduce`). The poll is also what finds that the waiting timer is due (D10). Nothing if some room is
    /// gone, which the process does not survive.
    pub(super) fn poll_queue<P: Platform, T: Probe>(
        &mut self,
        queue: DecodeStage,
        ctx: &mut Ctx<'_, P, T>,
    ) -> Option<Few<(u8, Poll), 2>> {
        let mut polls = Few::new();
        for at in 0..self.requests.len() {
            if self.requests[at].stage != queue {
                continue;
            }
            let due = queue == DecodeStage::Transfer && self.requests[at].timer == Some(0);
            if due && Self::poll(&self.requests[at], ctx) == Some(Poll::WaitingForInput) {
                self.time_out(at, ctx);
            }
            match Self::poll(&self.requests[at], ctx) {
                Some(poll) => polls.push((self.requests[at].request, poll)),
                None => {
                    self.crash(at, Site::CheckStatus, ctx);
                    return None;
                }
            }
        }
        Some(polls)
    }

    /// Where `request` stands in the list.
    pub(super) fn at(&self, request: u8) -> Option<usize> {
        self.requests.iter().position(|entry| entry.request == request)
    }

    /// The process dies of its own error on behalf of request number `at`.
    pub(super) fn crash<P: Platform, T: Probe>(&mut self, at: usize, site: Site, ctx: &mut Ctx<'_, P, T>) {
        self.crashed = true;
        ctx.emit(site, Event::Crash { node: decode_node(0), life: Config::life(self.requests[at].request) });
    }

    /// The ranks wait for each other for ever.
    pub(super) fn hang(&mut self) {
        self.crashed = true;
    }

    /// Every rank decides alike; the oracle hears each.
    pub(super) fn decide<P: Platform, T: Probe>(
        &self,
        request: u8,
        verdict: Verdict,
        site: Site,
        ctx: &mut Ctx<'_, P, T>,
    ) {
        ctx.decide(Group::Decode, self.pools.len(), request, verdict, site);
    }

    /// Frees `pages` of rank `rank`.
    pub(super) fn free_pages<P: Platform, T: Probe>(
        &mut self,
        rank: usize,
        request: u8,
        pages: Slots,
        site: Site,
        ctx: &mut Ctx<'_, P, T>,
    ) {
        debug_assert!(pool::count(&pages) > 0, "a request holds pages or none");
        self.pools[rank].give(&pages, ctx.on(Switch::FifoReuse));
        ctx.emit(site, Event::Free { life: Config::life(request), slots: pages });
    }

    /// Frees a metadata row of rank `rank`; a version with the gate zeroes it first (public fault S32).
    pub(super) fn free_row<P: Platform, T: Probe>(
        &mut self,
        rank: usize,
        request: u8,
        row: Slots,
        site: Site,
        ctx: &mut Ctx<'_, P, T>,
    ) {
        let shared = &ctx.world.decode[rank];
        let index = row_index(&row);
        shared.in_one_go(ctx.config, || {
            if ctx.on(Switch::MetadataGate) {
                shared.rows.with(|rows| rows[index] = RowContent::default());
            }
            shared.owners.with(|owners| owners[index] = None);
        });
        self.rows[rank].give(&row, ctx.on(Switch::FifoReuse));
        ctx.emit(site, Event::Free { life: Config::life(request), slots: row });
    }
}
