//! The recorder of the SGLang study: one prefill and one decode scheduler, hooked where they reserve, publish, send,
//! commit, run and free.
//!
//! What its events mean here:
//!
//! * `reserve` does not say for whom. The importer looks ahead, within 256 lines, to the event that does: on
//!   decode `publish_dst` names the room, on prefill `run_batch` names the request; a page that `alloc_decode` adds
//!   goes to the request of the same batch that has filled its last one, and where several have, to the one whose
//!   later page list or free shows it.
//! * `xfer_post` is one posted access from prefill's pages to decode's, for the request whose `send_chunk` named the
//!   source pages; if there is none, for the one that published the target pages last. Every layer's K and V hit the
//!   same pages, so the descriptors of one buffer say it all. A prefix that the request shares with another through
//!   the cache is posted as bytes from outside: its content is right and yet not the request's own.
//! * `xfer_done` with status 0 lands every cell and settles. With another status the access stays live: it may land
//!   later. `forced` means that the recorder never started it.
//! * A transfer outside the KV buffers is the metadata row. The first one belongs to the request whose pages were
//!   transferred last, which gives the table's address; from then on the address says which row.
//! * `run_batch` on prefill writes the tokens that were reserved for it; on decode it reads the context, then writes
//!   one token. `commit` reads the prompt, and the metadata row, which decode gives back right after.
//! * `client` on decode is the answer. Prefill's is one only when it refuses (4xx) and decode never answers; a success
//!   behind a refusal is reported to the oracle as such. Token counts are not in the recording, so usage is not judged.

mod pages;
mod pool;
mod raw;
mod requests;
mod steps;
mod transfers;

pub(in crate::trace) use raw::Raw;

use super::super::check::Checker;
use super::super::error::Problem;
use super::super::reader::Sink;
use super::super::schema::Context;
use crate::lifetime::{Event, Life, Node};
use pool::Pool;
use raw::{Fact, Role, Running, Seen};
use requests::Requests;
use rustc_hash::FxHashSet;
use std::collections::VecDeque;
use transfers::Transfers;

/// How many lines, and how many bytes of them, are looked ahead at most.
const MAX_AHEAD: usize = 256;
const MAX_AHEAD_BYTES: usize = 4 << 20;

/// Turns the recorder's lines into events.
#[derive(Debug, Default)]
pub(in crate::trace) struct Importer {
    ahead: VecDeque<Seen>,
    ahead_bytes: usize,
    ended: bool,
    checker: Checker,
    pools: [Option<Pool>; 2],
    requests: Requests,
    transfers: Transfers,
    /// What the next `run_batch` of prefill writes: tokens by life.
    forward: Vec<(Life, u32)>,
    /// Who each role worked for last.
    working_for: [Option<Life>; 2],
}

/// The line that is being told, and where to.
struct Telling<'s, S> {
    sink: &'s mut S,
    line: u64,
    clock: Option<f64>,
    role: Role,
}

impl Importer {
    /// Whether a line more should be pushed before the next step.
    pub(in crate::trace) fn wants_more(&self) -> bool {
        let full = self.ahead.len() >= MAX_AHEAD || self.ahead_bytes >= MAX_AHEAD_BYTES;
        !self.ended && (self.ahead.is_empty() || !full)
    }

    /// Takes a line.
    pub(in crate::trace) fn push(&mut self, line: u64, bytes: usize, raw: &Raw<'_>) -> Result<(), Problem> {
        self.ahead.push_back(Seen::new(line, bytes, raw)?);
        self.ahead_bytes += bytes;
        Ok(())
    }

    /// There is no line more.
    pub(in crate::trace) fn end(&mut self) {
        self.ended = true;
    }

    /// Tells what the earliest line means; `false` when none is left.
    pub(in crate::trace) fn step(&mut self, sink: &mut impl Sink) -> Result<bool, (u64, Problem)> {
        let Some(seen) = self.ahead.pop_front() else {
            self.tell_refusals(sink)?;
            return Ok(false);
        };
        self.ahead_bytes -= seen.bytes;
        let Seen { line, clock, role, fact, .. } = seen;
        let mut telling = Telling { sink, line, clock, role };
        self.tell_fact(&mut telling, fact).map_err(|problem| (line, problem))?;
        if self.requests.is_crowded() {
            self.tell_refusals(sink)?;
            let mut present: FxHashSet<Life> = self.pools.iter().flatten().flat_map(Pool::owners).collect();
            present.extend(self.transfers.lives());
            self.requests.sweep(&present);
        }
        Ok(true)
    }

    fn tell_fact<S: Sink>(&mut self, telling: &mut Telling<'_, S>, fact: Fact) -> Result<(), Problem> {
        match fact {
            Fact::Ready { page_size, free, kv_ptrs, kv_item_lens } => {
                self.ready(telling, page_size, free, &kv_ptrs, &kv_item_lens)
            }
            Fact::Queued { rid } => self.queued(telling, &rid),
            Fact::Reserve { extend: true, pages, tokens, free_after } => {
                self.reserve_extend(telling, &pages, tokens)?;
                self.count(telling.role, free_after)
            }
            Fact::Reserve { extend: false, pages, free_after, .. } => {
                self.reserve_decode(telling, &pages)?;
                self.count(telling.role, free_after)
            }
            Fact::Publish { room, pages, aux } => self.publish(telling, room, pages, aux),
            Fact::Free { pages, free_after } => self.free(telling, &pages, free_after),
            Fact::SendChunk { room, pages } => {
                if let Some(life) = self.requests.in_room(telling.role, room, false) {
                    self.transfers.sent(life, pages);
                }
                Ok(())
            }
            Fact::Post { id, src, dst, lens, n } => self.post(telling, id, &src, &dst, &lens, n),
            Fact::Done { id, status, forced } => self.done(telling, id, status, forced),
            Fact::Commit { rid, room, prompt_tokens } => self.commit(telling, &rid, room, prompt_tokens),
            Fact::RunBatch { reqs } => match telling.role {
                Role::Prefill => self.run_prefill(telling, &reqs),
                Role::Decode => self.run_decode(telling, &reqs),
            },
            Fact::Poll { room, starts } => {
                let _ = self.requests.in_room(telling.role, room, starts);
                Ok(())
            }
            Fact::ReceiverAbort { room } => self.receiver_abort(telling, room),
            Fact::Client { rid, told } => self.client(telling, &rid, told),
            Fact::Crash => {
                let life = self.working_for[telling.role as usize].unwrap_or(requests::NOBODY);
                let node = node_of(telling.role);
                self.tell(telling, &Event::Crash { node, life })
            }
            Fact::Count { free } => self.count(telling.role, Some(free)),
            Fact::Other => Ok(()),
        }
    }

    /// Checks an event and hands it on.
    fn tell<S: Sink>(&mut self, telling: &mut Telling<'_, S>, event: &Event) -> Result<(), Problem> {
        self.checker.check(event)?;
        let request = event.life().and_then(|life| self.requests.info(life)).map(|info| &*info.name);
        let context = Context { node: Some(node_of(telling.role)), thread: None, request, clock: telling.clock };
        telling.sink.event(telling.line, &context, event);
        Ok(())
    }

    fn count(&mut self, role: Role, free: Option<u64>) -> Result<(), Problem> {
        let pool = self.pool_mut(role)?;
        if let Some(free) = free {
            pool.count(free);
        }
        Ok(())
    }

    fn pool(&self, role: Role) -> Result<&Pool, Problem> {
        self.pools[role as usize].as_ref().ok_or_else(|| not_ready(role))
    }

    fn pool_mut(&mut self, role: Role) -> Result<&mut Pool, Problem> {
        self.pools[role as usize].as_mut().ok_or_else(|| not_ready(role))
    }

    /// The lines ahead of the same role.
    fn later(&self, role: Role) -> impl Iterator<Item = &Fact> {
        self.ahead.iter().filter(move |seen| seen.role == role).map(|seen| &seen.fact)
    }

    /// The batches ahead of the same role.
    fn later_batches(&self, role: Role) -> impl Iterator<Item = &[Running]> {
        self.later(role).filter_map(|fact| match fact {
            Fact::RunBatch { reqs } => Some(reqs.as_slice()),
            _ => None,
        })
    }
}

fn not_ready(role: Role) -> Problem {
    Problem::Unplaceable(format!("{} speaks before its `ready`", name_of(role)))
}

/// The number that a role's node has in events.
fn node_of(role: Role) -> Node {
    Node(role as u8)
}

fn name_of(role: Role) -> &'static str {
    match role {
        Role::Prefill => "prefill",
        Role::Decode => "decode",
    }
}
