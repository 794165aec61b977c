//! A whole run on threads, without faults and without timers, to its end.

use super::{Actor, Shift, Watched, Worked, whole_cell, work};
use crate::cell::balancer::Leg;
use crate::cell::serving::Cell;
use crate::cell::site::Site;
use crate::cell::world::{Config, World};
use crate::lifetime::{Label, Violation};
use crate::platform::{Shared, Threads};

/// How a run on threads went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// What was violated, and at the end what has leaked or never ended.
    pub violations: Vec<Violation>,
    /// How each request's decode leg ended.
    pub legs: Vec<Leg>,
    /// Whether a thread ran out of turns: the run was cut short and is no pass.
    pub starved: bool,
}

/// Runs the requests of a scope to their end, one thread an actor. Each takes at most `turns` turns.
///
/// # Panics
/// When an actor panics.
#[must_use]
pub fn run_on_threads<P: Threads>(config: &Config, turns: u32) -> Outcome
where
    World<P>: Send + Sync,
    P::Cell<u8>: Send + Sync,
{
    let scope = &config.scope;
    let calm = |shift: &Shift| {
        !shift.actor.is_fault() && !matches!(shift.actor, Actor::Clock | Actor::Abort(_) | Actor::Disconnect(_))
    };
    let shifts: Vec<Shift> = whole_cell(scope, turns).into_iter().filter(calm).collect();
    let start = Watched { cell: Cell::new(scope), oracle: config.oracle() };
    let Worked { watched, mut violations, cut_short } = work::<P>(&start, config, &shifts, None);
    if !cut_short {
        watched.oracle.quiesce(Label::from(Site::Final), &[], &mut violations);
    }
    let requests = 0..scope.requests.len() as u8;
    let balancer = &watched.cell.world.balancer;
    let legs = balancer.with(|balancer| requests.map(|request| balancer.pair(request).decode).collect());
    Outcome { violations, legs, starved: cut_short }
}
