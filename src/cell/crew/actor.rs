//! Who works, and for how long.

use crate::cell::scope::Scope;
use crate::cell::step::lanes;
use crate::cell::world::Lane;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A thread of the engine, or something else that acts on its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Actor {
    /// The clients: they send their requests.
    Clients,
    /// A client that aborts its request.
    Abort(u8),
    /// A client that goes away.
    Disconnect(u8),
    /// The scheduler loop of prefill; the GPU acts with it when it has nothing else to do.
    PrefillScheduler,
    /// `transfer_worker` of a prefill rank.
    Worker(u8),
    /// `bootstrap_thread` of a prefill rank.
    BootstrapThread(u8),
    /// The scheduler loop of decode.
    DecodeScheduler,
    /// `decode_thread` of a decode rank.
    DecodeThread(u8),
    /// A connection that brings messages at its own pace. Where nobody is this, a message is there as soon as it is sent.
    Connection(Lane),
    /// `HeartbeatChecker`: reports, wrongly or not, that prefill does not answer.
    Heartbeat,
    /// A network card that lands the oldest write first.
    Fabric,
    /// Another that lands the newest first.
    SecondRail,
    /// Time.
    Clock,
    /// A write of a network card ends in an error.
    TransferError,
    /// A write takes so long that its initiator is told so.
    TransferTimeout,
    /// A control message is lost.
    Loss,
}

impl Actor {
    /// Whether it is a fault: it strikes once, where there is something to break, or never.
    #[must_use]
    pub const fn is_fault(self) -> bool {
        matches!(self, Self::TransferError | Self::TransferTimeout | Self::Loss | Self::Heartbeat)
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Clients => f.write_str("clients"),
            Self::Abort(request) => write!(f, "abort of request {request}"),
            Self::Disconnect(request) => write!(f, "disconnect of request {request}"),
            Self::PrefillScheduler => f.write_str("prefill scheduler"),
            Self::Worker(rank) => write!(f, "worker {rank}"),
            Self::BootstrapThread(rank) => write!(f, "bootstrap thread {rank}"),
            Self::DecodeScheduler => f.write_str("decode scheduler"),
            Self::DecodeThread(rank) => write!(f, "decode thread {rank}"),
            Self::Connection(lane) => write!(f, "connection {lane}"),
            Self::Heartbeat => f.write_str("heartbeat"),
            Self::Fabric => f.write_str("fabric"),
            Self::SecondRail => f.write_str("second rail"),
            Self::Clock => f.write_str("clock"),
            Self::TransferError => f.write_str("transfer error"),
            Self::TransferTimeout => f.write_str("transfer timeout"),
            Self::Loss => f.write_str("message loss"),
        }
    }
}

/// An actor at work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Shift {
    /// Who.
    pub actor: Actor,
    /// For how many turns at most. A turn that finds nothing to do counts too.
    pub turns: u32,
}

/// The lanes whose listener hears others too, so that the order of arrival is not that of one sender.
fn contested(scope: &Scope) -> impl Iterator<Item = Lane> {
    lanes(scope).filter(|lane| match *lane {
        Lane::ToPrefill { to, .. } => scope.decode_peers(to).count() > 1,
        Lane::ToDecode { to, .. } => scope.prefill_peers(to).count() > 1,
        Lane::Aux { .. } => true,
    })
}

/// Everybody that `scope` has work for, each for at most `turns` turns: the faults and timers of the scope included.
#[must_use]
pub fn whole_cell(scope: &Scope, turns: u32) -> Vec<Shift> {
    let mut actors = vec![Actor::Clients, Actor::PrefillScheduler, Actor::DecodeScheduler, Actor::Fabric];
    if scope.slices > 1 || scope.siblings > 1 || scope.requests.len() > 1 || scope.retries > 0 {
        actors.push(Actor::SecondRail);
    }
    for rank in 0..scope.prefill_ranks {
        actors.extend([Actor::Worker(rank), Actor::BootstrapThread(rank)]);
    }
    actors.extend((0..scope.decode_ranks).map(Actor::DecodeThread));
    actors.extend(contested(scope).map(Actor::Connection));
    let requests = scope.requests.len() as u8;
    let faults = scope.faults;
    let timers = [scope.timers.bootstrap, scope.timers.waiting, scope.timers.release, scope.timers.prealloc];
    actors.extend((0..faults.aborts).map(|nth| Actor::Abort(nth % requests)));
    actors.extend((0..faults.disconnects).map(|nth| Actor::Disconnect(nth % requests)));
    let budgets = [
        (Actor::TransferError, faults.transfer_errors),
        (Actor::TransferTimeout, faults.transfer_timeouts),
        (Actor::Loss, faults.losses),
    ];
    actors.extend(budgets.into_iter().flat_map(|(actor, budget)| (0..budget).map(move |_| actor)));
    let mut shifts: Vec<Shift> = actors.into_iter().map(|actor| Shift { actor, turns }).collect();
    let longest = timers.into_iter().max().unwrap_or(0);
    shifts.extend((longest > 0).then_some(Shift { actor: Actor::Clock, turns: u32::from(longest) }));
    shifts
}
