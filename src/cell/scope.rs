//! Scopes: the size of the world, the requests in it, and how many faults it may suffer.

use super::rejection::{Producer, Rejection};
use serde::{Deserialize, Serialize};

/// How the balancer treats the two legs of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// Both legs are forwarded at once; the client hears the decode leg; a client that leaves closes both legs.
    #[default]
    Forward,
    /// The client's connection follows the prefill leg until that has finished, then the decode leg: a prefill error is
    /// the answer, and a client that leaves closes only the leg that is held.
    Hold,
    /// As `Hold`, and the other leg of a failed pair is cancelled (#29017).
    HoldAndCancel,
}

/// What the transport's completion means (transfer semantics K.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Completion {
    /// The bytes are at the destination (RDMA, TCP from 2026-07-13).
    #[default]
    Applied,
    /// The local socket took the bytes (TCP before).
    Accepted,
}

/// One request of a scope.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequestSpec {
    /// Prompt tokens.
    pub prompt: u32,
    /// Tokens to generate, the one from prefill included; at least 1.
    #[serde(default = "one")]
    pub max_new: u32,
    /// The bootstrap room; by default one that no other request has.
    #[serde(default)]
    pub room: Option<u16>,
    /// A rejection that is planted in it.
    #[serde(default)]
    pub rejected: Option<Rejection>,
}

const fn one() -> u32 {
    1
}

/// How many of each fault a run may suffer. Zero by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Faults {
    /// A client aborts its request on both servers.
    pub aborts: u8,
    /// A client goes away; the balancer closes the legs that its policy holds.
    pub disconnects: u8,
    /// A control message is lost (PUSH sockets: at most once).
    pub losses: u8,
    /// A write fails; its siblings go on.
    pub transfer_errors: u8,
    /// The initiator is told of a timeout; the write goes on. Only writes of more than `slow_pages` pages can time out.
    pub transfer_timeouts: u8,
    /// Prefill dies; its memory and its writes are gone. A replacement may start.
    pub kills: u8,
}

/// Timer lengths, in units of [`Step::Elapse`](super::Step::Elapse). Zero: the timer never fires in this scope.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Timers {
    /// Prefill: sender created until bootstrapped (300 s).
    pub bootstrap: u8,
    /// Decode: metadata sent until the transfer is done (300 s).
    pub waiting: u8,
    /// Decode: held until released without proof (30 s).
    pub release: u8,
    /// Decode: queued until pages are reserved; only with `prealloc_timeout`.
    pub prealloc: u8,
}

/// The size of the world. Every length is in tokens unless it says pages.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scope {
    /// What it is called.
    pub name: String,
    /// What it is for, in a line.
    #[serde(default)]
    pub about: String,
    /// Tokens of a page.
    pub page_size: u32,
    /// Prefill pool, in pages.
    pub prefill_pages: u32,
    /// Decode pool, in pages.
    pub decode_pages: u32,
    /// Metadata rows of each server.
    #[serde(default = "two")]
    pub metadata_rows: u32,
    /// The advertised context length.
    #[serde(default = "unbounded")]
    pub context: u32,
    /// Prefill ranks, 1 or 2.
    #[serde(default = "one_rank")]
    pub prefill_ranks: u8,
    /// Decode ranks, 1 or 2.
    #[serde(default = "one_rank")]
    pub decode_ranks: u8,
    /// Chunked prefill: tokens of a chunk; a multiple of the page size.
    #[serde(default = "unbounded")]
    pub chunk: u32,
    /// In how many pieces a write lands at most, in any order.
    #[serde(default = "one_rank")]
    pub slices: u8,
    /// Into how many concurrent writes a batch is split (descriptors, futures).
    #[serde(default = "one_rank")]
    pub siblings: u8,
    /// The page bound of a batch when `batch_bound` is on.
    #[serde(default = "one")]
    pub batch_pages: u32,
    /// Writes of at most so many pages are bounded: they can't time out.
    #[serde(default)]
    pub slow_pages: u32,
    /// How often the transport tries a timed-out write again by itself.
    #[serde(default)]
    pub retries: u8,
    /// What a completion means.
    #[serde(default)]
    pub completion: Completion,
    /// Metadata travels as a message (`SGLANG_MOONCAKE_SEND_AUX_TCP`) instead of a write.
    #[serde(default)]
    pub aux_by_message: bool,
    /// The prefill scheduler launches the next forward before it handles the last result.
    #[serde(default)]
    pub overlap: bool,
    /// The balancer's policy.
    #[serde(default)]
    pub policy: Policy,
    /// Fault budget.
    #[serde(default)]
    pub faults: Faults,
    /// Timer lengths.
    #[serde(default)]
    pub timers: Timers,
    /// The requests that clients may send, in this order.
    pub requests: Vec<RequestSpec>,
}

const fn two() -> u32 {
    2
}

const fn unbounded() -> u32 {
    u32::MAX
}

const fn one_rank() -> u8 {
    1
}

/// A scope that no run can be made of.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("scope `{scope}`: `{key}` {problem}")]
pub struct ScopeError {
    /// The scope.
    pub scope: String,
    /// The key whose value is impossible.
    pub key: &'static str,
    /// What is wrong with it.
    pub problem: String,
}

/// The largest pool, in tokens: the cells of all pools together, and eight times those of one (a write is cut into up to
/// eight pieces), are counted in 32 bits.
const MAX_POOL_TOKENS: u64 = 1 << 28;
/// The most requests of a scope: request sets are bytes, and a larger scope never closes.
const MAX_REQUESTS: usize = 8;
/// Rooms are bytes; the highest are for requests that choose none.
const MAX_ROOM: u16 = 255;
const MAX_CHOSEN_ROOM: u16 = MAX_ROOM - MAX_REQUESTS as u16;

/// Of `others`, those that speak to rank `rank` of `ranks`: as many as there are on this side are paired one to one, and
/// otherwise each speaks to all.
fn peers(ranks: u8, others: u8, rank: u8) -> impl Iterator<Item = u8> {
    (0..others).filter(move |peer| ranks != others || *peer == rank)
}

impl Scope {
    /// The decode ranks that prefill rank `rank` writes to.
    pub fn decode_peers(&self, rank: u8) -> impl Iterator<Item = u8> + use<> {
        peers(self.prefill_ranks, self.decode_ranks, rank)
    }

    /// The prefill ranks that decode rank `rank` hears from.
    pub fn prefill_peers(&self, rank: u8) -> impl Iterator<Item = u8> + use<> {
        peers(self.decode_ranks, self.prefill_ranks, rank)
    }

    /// Whether it plants a rejection.
    #[must_use]
    pub fn plants_a_rejection(&self) -> bool {
        self.requests.iter().any(|request| request.rejected.is_some())
    }

    /// The scope with `producer` behind each rejection that it plants; the name says so.
    #[must_use]
    pub fn planted_by(&self, producer: Producer) -> Self {
        let mut planted = Self { name: format!("{} by {producer}", self.name), ..self.clone() };
        for rejection in planted.requests.iter_mut().filter_map(|request| request.rejected.as_mut()) {
            rejection.by = producer;
        }
        planted
    }

    /// Checks that every value is possible.
    ///
    /// # Errors
    /// Names the first key that is not.
    pub fn validate(&self) -> Result<(), ScopeError> {
        let fail = |key, problem: &str| Err(ScopeError { scope: self.name.clone(), key, problem: problem.to_owned() });
        if self.page_size == 0 {
            return fail("page_size", "must be at least 1");
        }
        for (key, pages) in [("prefill_pages", self.prefill_pages), ("decode_pages", self.decode_pages)] {
            if pages == 0 || u64::from(pages) * u64::from(self.page_size) > MAX_POOL_TOKENS {
                return fail(key, "must be at least 1 page and at most 2^28 tokens");
            }
        }
        if !(1..=64).contains(&self.metadata_rows) {
            return fail("metadata_rows", "must be from 1 to 64");
        }
        for (key, ranks) in [("prefill_ranks", self.prefill_ranks), ("decode_ranks", self.decode_ranks)] {
            if !(1..=2).contains(&ranks) {
                return fail(key, "must be 1 or 2");
            }
        }
        if self.chunk != u32::MAX && (self.chunk == 0 || !self.chunk.is_multiple_of(self.page_size)) {
            return fail("chunk", "must be a multiple of the page size");
        }
        if !(1..=8).contains(&self.slices) {
            return fail("slices", "must be from 1 to 8");
        }
        if !(1..=4).contains(&self.siblings) {
            return fail("siblings", "must be from 1 to 4");
        }
        if self.batch_pages == 0 {
            return fail("batch_pages", "must be at least 1");
        }
        if !(1..=MAX_REQUESTS).contains(&self.requests.len()) {
            return fail("requests", "must be from 1 to 8");
        }
        for request in &self.requests {
            if request.prompt == 0 || request.max_new == 0 || u64::from(request.prompt) > MAX_POOL_TOKENS {
                return fail("requests", "prompt and max_new must be at least 1, and a prompt at most 2^28 tokens");
            }
            if request.room.is_some_and(|room| !(1..=MAX_CHOSEN_ROOM).contains(&room)) {
                return fail("room", "must be from 1 to 247: 0 means `not written yet`, and the highest are dealt out");
            }
        }
        Ok(())
    }

    /// The longest prompt that prefill takes. The engine subtracts a small constant more, which is zero here.
    #[must_use]
    pub fn prefill_limit(&self) -> u32 {
        self.context.min(self.prefill_pages * self.page_size)
    }

    /// The longest prompt that decode takes.
    #[must_use]
    pub fn decode_limit(&self) -> u32 {
        self.context.min(self.decode_pages * self.page_size)
    }

    /// The room of request `request`.
    #[must_use]
    pub fn room(&self, request: usize) -> u16 {
        // Requests without a room of their own get the high ones, so that they never meet a chosen one.
        self.requests[request].room.unwrap_or(MAX_ROOM - request as u16)
    }

    /// How many pages `tokens` take.
    #[must_use]
    pub const fn pages(&self, tokens: u32) -> u32 {
        tokens.div_ceil(self.page_size)
    }
}
