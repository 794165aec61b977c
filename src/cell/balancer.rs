//! The balancer in front of the two servers, and the clients in front of it.

use super::message::Http;
use super::scope::{Policy, Scope};
use super::site::Site;
use super::switch::Switch;
use super::world::{Config, Ctx, Group, Probe};
use crate::few::{Few, clone_by_field};
use crate::lifetime::{Answer, Event, Verdict};
use crate::platform::{Platform, Shared};

/// One of a request's two connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Leg {
    /// Not sent.
    Idle,
    /// Waiting for the server.
    Open,
    /// Ended.
    Done(Verdict),
}

/// A request as its client sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Client {
    /// Not sent yet.
    Unsent,
    /// Waiting for an answer.
    Waiting,
    /// Answered, or gone.
    Done,
}

/// A request at the balancer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pair {
    /// The client's side.
    pub client: Client,
    /// The prefill leg.
    pub prefill: Leg,
    /// The decode leg.
    pub decode: Leg,
}

impl Pair {
    /// Whether the client waits; if so, it is about to be answered, by nobody else.
    fn take_client(&mut self) -> bool {
        let waits = self.client == Client::Waiting;
        if waits {
            self.client = Client::Done;
        }
        waits
    }
}

/// What a server answers on a leg.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reply {
    /// How the leg ended.
    pub verdict: Verdict,
    /// `usage.prompt_tokens`.
    pub prompt_tokens: u32,
    /// How many prompt tokens prefill really processed, where the server knows.
    pub processed: Option<u32>,
    /// Whose first token the answer starts with.
    pub tokens_of: Option<u8>,
}

impl Reply {
    /// An answer without tokens.
    #[must_use]
    pub const fn error(verdict: Verdict) -> Self {
        Self { verdict, prompt_tokens: 0, processed: None, tokens_of: None }
    }
}

/// The balancer.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Balancer {
    pairs: Few<Pair, 2>,
}

clone_by_field!(Balancer { pairs });

impl Balancer {
    /// A balancer that has seen nothing.
    #[must_use]
    pub fn new(scope: &Scope) -> Self {
        let unsent = Pair { client: Client::Unsent, prefill: Leg::Idle, decode: Leg::Idle };
        Self { pairs: Few::from_elem(unsent, scope.requests.len()) }
    }

    /// A request.
    #[must_use]
    pub fn pair(&self, request: u8) -> &Pair {
        &self.pairs[usize::from(request)]
    }

    fn pair_mut(&mut self, request: u8) -> &mut Pair {
        &mut self.pairs[usize::from(request)]
    }

    /// Whether every client has been answered, or is gone.
    #[must_use]
    pub fn all_done(&self) -> bool {
        self.pairs.iter().all(|pair| pair.client == Client::Done)
    }

    /// The next request that its client may send.
    #[must_use]
    pub fn next(&self) -> Option<u8> {
        self.pairs.iter().position(|pair| pair.client == Client::Unsent).map(|at| at as u8)
    }
}

/// The client sends `request`; the balancer forwards it to both servers at once. A dead prefill refuses the connection.
pub fn submit<P: Platform, T: Probe>(request: u8, prefill_alive: bool, ctx: &mut Ctx<'_, P, T>) {
    // Said before anybody can see that the client waits: it may leave at once.
    ctx.emit(Site::Submit, Event::Begin { life: Config::life(request) });
    ctx.world.balancer.with(|balancer| {
        *balancer.pair_mut(request) = Pair { client: Client::Waiting, prefill: Leg::Open, decode: Leg::Open };
    });
    ctx.world.net.decode_http.with(|queue| queue.push(Http::New(request)));
    if prefill_alive {
        ctx.world.net.prefill_http.with(|queue| queue.push(Http::New(request)));
    } else {
        prefill_reply(request, Reply::error(Verdict::Failed), ctx);
    }
}

/// The client stops waiting, by an explicit abort (both servers are told) or by closing its connection (the balancer
/// closes the legs that its policy holds at that moment).
pub fn leave<P: Platform, T: Probe>(request: u8, explicit: bool, ctx: &mut Ctx<'_, P, T>) {
    let pair = ctx.world.balancer.with(|balancer| {
        let pair = *balancer.pair(request);
        balancer.pair_mut(request).client = Client::Done;
        pair
    });
    let held = ctx.config.scope.policy != Policy::Forward && !explicit;
    let close_prefill = pair.prefill == Leg::Open;
    let close_decode = pair.decode == Leg::Open && !(held && close_prefill);
    let site = if explicit { Site::ClientAbort } else { Site::ClientDisconnect };
    let life = Config::life(request);
    ctx.decide(Group::Client, 1, request, Verdict::Aborted, site);
    let told = Answer { verdict: Verdict::Aborted, prompt_tokens: 0, tokens_of: None };
    ctx.emit(site, Event::Finish { life, told, processed: None });
    if close_prefill {
        ctx.world.net.prefill_http.with(|queue| queue.push(Http::Abort(request)));
    }
    if close_decode {
        ctx.world.net.decode_http.with(|queue| queue.push(Http::Abort(request)));
    }
}

/// The prefill leg ends. A balancer that holds it answers an error at once, and with `HoldAndCancel` ends the other leg.
pub fn prefill_reply<P: Platform, T: Probe>(request: u8, reply: Reply, ctx: &mut Ctx<'_, P, T>) {
    let policy = ctx.config.scope.policy;
    let (answers, cancels) = ctx.world.balancer.with(|balancer| {
        let pair = balancer.pair_mut(request);
        pair.prefill = Leg::Done(reply.verdict);
        let failed = policy != Policy::Forward && reply.verdict != Verdict::Success;
        let cancels = failed && policy == Policy::HoldAndCancel && pair.decode == Leg::Open;
        (failed && pair.take_client(), cancels)
    });
    if answers {
        answer(request, reply, ctx);
    }
    if cancels {
        ctx.world.net.decode_http.with(|queue| queue.push(Http::Abort(request)));
    }
}

/// The decode leg ends, and with it the answer.
pub fn decode_reply<P: Platform, T: Probe>(request: u8, reply: Reply, ctx: &mut Ctx<'_, P, T>) {
    let policy = ctx.config.scope.policy;
    let (answers, cancels, refused) = ctx.world.balancer.with(|balancer| {
        let pair = balancer.pair_mut(request);
        pair.decode = Leg::Done(reply.verdict);
        let failed = reply.verdict != Verdict::Success;
        let cancels = failed && policy == Policy::HoldAndCancel && pair.prefill == Leg::Open;
        (pair.take_client(), cancels, failed && pair.prefill == Leg::Done(Verdict::Rejected))
    });
    if answers {
        // The first reason is what the client is owed, also where the other leg has a later one of its own.
        let first = refused && ctx.on(Switch::StickyReason);
        answer(request, if first { Reply::error(Verdict::Rejected) } else { reply }, ctx);
    }
    if cancels {
        ctx.world.net.prefill_http.with(|queue| queue.push(Http::Abort(request)));
    }
}

fn answer<P: Platform, T: Probe>(request: u8, reply: Reply, ctx: &mut Ctx<'_, P, T>) {
    let told = Answer {
        verdict: reply.verdict,
        prompt_tokens: reply.prompt_tokens,
        tokens_of: reply.tokens_of.map(Config::life),
    };
    ctx.emit(Site::Answer, Event::Finish { life: Config::life(request), told, processed: reply.processed });
}
