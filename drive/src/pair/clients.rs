//! The clients and the balancer in front of a pair, with the cell's policies.

use crate::host::{Answered, Role};
use pagefence::cell::{Policy, Scope};
use pagefence::lifetime::{Answer, Verdict};

/// One of a request's two connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leg {
    Open,
    Done,
}

/// A request as its client sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Client {
    waits: bool,
    prefill: Leg,
    decode: Leg,
}

/// Every client, in the order in which they send.
#[derive(Debug)]
pub struct Clients {
    sent: Vec<Client>,
    all: usize,
}

/// What the balancer does with an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// What the client is told, if this is what it waits for.
    pub told: Option<Answer>,
    /// The leg that is ended with this one.
    pub cancel: Option<Role>,
}

impl Clients {
    /// Clients that have sent nothing.
    #[must_use]
    pub fn new(scope: &Scope) -> Self {
        Self { sent: Vec::new(), all: scope.requests.len() }
    }

    /// The next request is sent to both servers; nothing if all are.
    pub fn submit(&mut self) -> Option<u8> {
        let next = self.sent.len();
        if next == self.all {
            return None;
        }
        self.sent.push(Client { waits: true, prefill: Leg::Open, decode: Leg::Open });
        Some(next as u8)
    }

    /// A client stops waiting: which servers are told. An explicit abort goes to both, a closed connection to the leg that the
    /// policy holds.
    pub fn leave(&mut self, request: u8, explicit: bool, policy: Policy) -> Vec<Role> {
        let Some(client) = self.sent.get_mut(usize::from(request)) else { return Vec::new() };
        client.waits = false;
        let held = policy != Policy::Forward && !explicit;
        let prefill = client.prefill == Leg::Open;
        let decode = client.decode == Leg::Open && !(held && prefill);
        let legs = [(prefill, Role::Prefill), (decode, Role::Decode)];
        legs.into_iter().filter_map(|(closed, role)| closed.then_some(role)).collect()
    }

    /// A server answers.
    pub fn reply(&mut self, request: u8, role: Role, answered: &Answered, policy: Policy) -> Reply {
        let Some(client) = self.sent.get_mut(usize::from(request)) else { return Reply::default() };
        let (own, other, peer) = match role {
            Role::Prefill => (&mut client.prefill, client.decode, Role::Decode),
            Role::Decode => (&mut client.decode, client.prefill, Role::Prefill),
        };
        // What comes after the end of a leg, such as the word that an abort was seen, nobody hears.
        if std::mem::replace(own, Leg::Done) == Leg::Done {
            return Reply::default();
        }
        let failed = answered.verdict != Verdict::Success;
        let decides = role == Role::Decode || (failed && policy != Policy::Forward);
        let cancels = failed && policy == Policy::HoldAndCancel && other == Leg::Open;
        let prompt_tokens = if failed { 0 } else { answered.prompt_tokens };
        let told = Answer { verdict: answered.verdict, prompt_tokens, tokens_of: None };
        let waits = decides && std::mem::take(&mut client.waits);
        Reply { told: waits.then_some(told), cancel: cancels.then_some(peer) }
    }
}
