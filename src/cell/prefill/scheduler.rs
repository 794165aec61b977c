//! The prefill scheduler loop (protocol 2.2), one iteration a step, all ranks in lockstep as their collectives force.

use super::forward::has_unsent_chunk;
use crate::cell::pool::Pool;
use crate::cell::room::{Poll, RoomKey};
use crate::cell::scope::Scope;
use crate::cell::site::Site;
use crate::cell::switch::Switch;
use crate::cell::world::{Config, Ctx, Group, Probe, place, prefill_node};
use crate::few::{Few, clone_by_field};
use crate::lifetime::{Arena, Event, Slots, Verdict};
use crate::platform::{Platform, Shared};

/// Which queue a request is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PrefillStage {
    /// The grammar queue: out of it in the next iteration.
    Grammar,
    /// The bootstrap queue.
    Bootstrap,
    /// The waiting queue; also between two chunks.
    Waiting,
    /// A forward has been launched and its result not handled yet (overlapped loop only).
    Forward,
    /// The inflight queue.
    Inflight,
    /// Answered; its pages wait for the workers (`source_hold` only).
    Held,
}

/// What a rank holds for a request.
#[derive(Debug, Default, PartialEq, Eq, Hash)]
pub struct RankHold {
    /// Source pages, in token order.
    pub pages: Option<Slots>,
    /// The metadata row.
    pub row: Option<Slots>,
    /// The sender's sticky conclusion, which short-circuits its poll (protocol 1.2).
    pub latch: Option<Poll>,
}

clone_by_field!(RankHold { pages, row, latch });

/// A request at prefill.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct PrefillRequest {
    /// Which.
    pub request: u8,
    /// Its room.
    pub key: RoomKey,
    /// Which queue it is in.
    pub stage: PrefillStage,
    /// Its prompt, as the scheduler sees it: one token once a placeholder has replaced it.
    pub prompt: u32,
    /// `to_finish`: a verdict that is pending.
    pub to_finish: Option<Verdict>,
    /// Up to which token forwards have been launched.
    pub launched: u32,
    /// Up to which token chunks have been queued for sending.
    pub sent: u32,
    /// Remaining time of the bootstrap timer.
    pub timer: Option<u8>,
    /// What each rank holds.
    pub ranks: Few<RankHold, 1>,
}

impl PrefillRequest {
    /// Whether it is in the waiting queue, and not between two of its chunks.
    pub(super) fn is_waiting(&self) -> bool {
        self.stage == PrefillStage::Waiting && self.launched == 0
    }
}

clone_by_field!(PrefillRequest { request, key, stage, prompt, to_finish, launched, sent, timer, ranks });

/// A forward that the overlapped loop has launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Forward {
    pub(super) request: u8,
    pub(super) end: u32,
    pub(super) done: bool,
}

/// The scheduler of all prefill ranks.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct PrefillScheduler {
    pub(super) requests: Few<PrefillRequest, 2>,
    pub(in crate::cell) pools: Few<Pool, 1>,
    pub(in crate::cell) rows: Few<Pool, 1>,
    pub(super) forwards: Few<Forward, 2>,
    crashed: bool,
}

clone_by_field!(PrefillScheduler { requests, pools, rows, forwards, crashed });

impl PrefillScheduler {
    /// A scheduler that has just started.
    #[must_use]
    pub fn new(scope: &Scope) -> Self {
        let pool = |arena, size| {
            (0..scope.prefill_ranks).map(|rank| Pool::new(place(prefill_node(rank), arena), size)).collect()
        };
        Self {
            requests: Few::new(),
            pools: pool(Arena::KvPage, scope.prefill_pages),
            rows: pool(Arena::MetadataRow, scope.metadata_rows),
            forwards: Few::new(),
            crashed: false,
        }
    }

    /// The requests, oldest first.
    #[must_use]
    pub fn requests(&self) -> &[PrefillRequest] {
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
        if !ctx.world.net.prefill_http.with(|queue| queue.is_empty()) {
            return true;
        }
        self.result_is_due(ctx) || self.requests.iter().any(|request| self.request_is_ready(request, ctx))
    }

    fn request_is_ready<P: Platform, T: Probe>(&self, request: &PrefillRequest, ctx: &Ctx<'_, P, T>) -> bool {
        match request.stage {
            PrefillStage::Grammar => true,
            PrefillStage::Bootstrap => match Self::poll(request, ctx) {
                Some(Poll::Bootstrapping) => request.timer == Some(0),
                Some(Poll::WaitingForInput) => self.rows.iter().all(|rows| rows.available() > 0),
                _ => true,
            },
            PrefillStage::Waiting => {
                let over = || matches!(Self::poll(request, ctx), None | Some(Poll::Failed));
                ctx.on(Switch::WaitingPolled) && request.is_waiting() && over()
                    || has_unsent_chunk(request, ctx)
                    || self.launches(request, ctx)
            }
            PrefillStage::Forward => self.launches(request, ctx),
            PrefillStage::Inflight => {
                !matches!(Self::poll(request, ctx), Some(Poll::WaitingForInput | Poll::Transferring))
            }
            PrefillStage::Held => Self::drained(request, ctx),
        }
    }

    /// One iteration of the loop, from one wait for the GPU to the next.
    pub fn tick<P: Platform, T: Probe>(&mut self, ctx: &mut Ctx<'_, P, T>) {
        if self.crashed {
            return;
        }
        if self.result_is_due(ctx) {
            let forward = self.forwards.remove(0);
            self.handle_result(forward.request, forward.end, ctx);
        }
        self.poll_inflight(ctx);
        // A process that has died does not finish its iteration.
        if !self.crashed {
            self.release_held(ctx);
            self.ingest(ctx);
            self.pop_bootstrapped(ctx);
        }
        if !self.crashed {
            self.resolve_waiting(ctx);
        }
        if !self.crashed {
            self.launch(ctx);
        }
    }

    /// Time passes: every timer that runs comes one unit closer.
    pub fn elapse(&mut self) {
        for left in self.requests.iter_mut().filter_map(|request| request.timer.as_mut()) {
            *left = left.saturating_sub(1);
        }
    }

    /// Whether a timer runs that is not due yet.
    #[must_use]
    pub fn timer_runs(&self) -> bool {
        self.requests.iter().any(|request| request.timer.is_some_and(|left| left > 0))
    }

    /// The room's status as the ranks agree on it (MIN); `None`: some rank has no such room.
    pub(super) fn poll<P: Platform, T: Probe>(request: &PrefillRequest, ctx: &Ctx<'_, P, T>) -> Option<Poll> {
        let statuses = request.ranks.iter().zip(&ctx.world.prefill);
        statuses.map(|(rank, shared)| rank.latch.or_else(|| shared.status(request.key))).min().flatten()
    }

    /// The statuses of a whole queue, taken before any of them is acted on: the ranks agree on all at once
    /// (`poll_and_all_reduce`). The poll is also what finds that the bootstrap timer is due (P22). Nothing if some room is
    /// gone, which the process does not survive.
    pub(super) fn poll_queue<P: Platform, T: Probe>(
        &mut self,
        queue: impl Fn(&PrefillRequest) -> bool,
        ctx: &mut Ctx<'_, P, T>,
    ) -> Option<Few<(u8, Poll), 2>> {
        let mut polls = Few::new();
        for at in 0..self.requests.len() {
            let entry = &self.requests[at];
            if !queue(entry) {
                continue;
            }
            if entry.timer == Some(0) && Self::poll(entry, ctx) == Some(Poll::Bootstrapping) {
                for shared in &ctx.world.prefill {
                    shared.in_one_go(ctx.config, || shared.update_status(entry.key, Poll::Failed, ctx.config));
                }
            }
            match Self::poll(entry, ctx) {
                Some(poll) => polls.push((entry.request, poll)),
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
        ctx.emit(site, Event::Crash { node: prefill_node(0), life: Config::life(self.requests[at].request) });
    }

    /// Every rank decides alike; the oracle hears each.
    pub(super) fn decide<P: Platform, T: Probe>(
        &self,
        request: u8,
        verdict: Verdict,
        site: Site,
        ctx: &mut Ctx<'_, P, T>,
    ) {
        ctx.decide(Group::Prefill, self.pools.len(), request, verdict, site);
    }
}
