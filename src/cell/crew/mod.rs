//! The cell on threads: each actor is a thread that takes its own steps, and every access to what they share is a chance
//! for another to come in between (protocol section 4).
//!
//! Where [`Cell`] takes one actor's step at a time, here a [`Shift`] says who works for how many turns, and the
//! platform's schedule decides the rest: the operating system's, or that of a checker which tries them all. A shift starts
//! from any state of a cell and hands back the state that it led to, so that a script can lead up to the moment
//! that matters, threads can race through it, and a drain can show what came of it.
//!
//! What is not a thread of the engine: the clients, the GPU, the network card, the clock and the faults. They are actors
//! too, since each of them acts on its own.

mod actor;
mod body;
mod connections;
mod outcome;

pub use actor::{Actor, Shift, whole_cell};
pub use outcome::{Outcome, run_on_threads};

use self::body::Body;
use self::connections::Connections;
use super::decode::DecodeScheduler;
use super::prefill::{PrefillScheduler, Worker};
use super::serving::Cell;
use super::site::Site;
use super::world::{Config, Probe, World};
use crate::few::{Few, clone_by_field};
use crate::lifetime::{Event, Label, Oracle, Violation};
use crate::platform::{Local, Order, Shared, Threads};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Hears what each thread does: its place in the list of shifts, the step, the event.
pub type Listener = Arc<dyn Fn(usize, Site, &Event) + Send + Sync>;

/// A cell and the oracle that has watched it.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Watched {
    /// The cell.
    pub cell: Cell<Local>,
    /// What the oracle remembers of it.
    pub oracle: Oracle,
}

clone_by_field!(Watched { cell, oracle });

/// What the shifts led to.
#[derive(Debug)]
pub struct Worked {
    /// The cell as they left it.
    pub watched: Watched,
    /// What was violated, in the order of the run.
    pub violations: Vec<Violation>,
    /// Whether a shift ran out of turns while there was something left for it to do.
    pub cut_short: bool,
}

/// The oracle and what it has said. Not a cell of the platform: to be heard orders nothing, see [`Order`].
struct Judge {
    oracle: Oracle,
    violations: Vec<Violation>,
    cut_short: bool,
}

/// What the actors own and give back at the end of their shift.
struct Tools {
    prefill: PrefillScheduler,
    decode: DecodeScheduler,
    workers: Few<Worker, 1>,
}

/// What all threads of a run share.
struct Stage<P: Threads> {
    world: World<P>,
    config: Config,
    /// How many of the two schedulers have ended their shift, or have none. No cell: nobody in the engine looks at this, and
    /// it must order nothing.
    ended: AtomicU8,
    /// How often the clock has ticked.
    ticks: P::Cell<u8>,
    /// Whether there is a clock.
    timed: bool,
    connections: Connections<P>,
    /// Who is heard next.
    order: P::Order,
    judge: Mutex<Judge>,
    tools: Mutex<Tools>,
    listener: Option<Listener>,
}

impl<P: Threads> Stage<P> {
    fn judge(&self) -> MutexGuard<'_, Judge> {
        self.judge.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tools(&self) -> MutexGuard<'_, Tools> {
        self.tools.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn served(&self) -> bool {
        self.world.balancer.with(|balancer| balancer.all_done())
    }

    fn schedulers_have_ended(&self) -> bool {
        self.ended.load(Ordering::SeqCst) == 2
    }
}

/// A thread's ear of the oracle.
struct Ear<'a, P: Threads> {
    stage: &'a Stage<P>,
    thread: usize,
}

impl<P: Threads> Probe for Ear<'_, P> {
    fn emit(&mut self, site: Site, event: &Event) {
        self.stage.order.next();
        if let Some(listener) = &self.stage.listener {
            listener(self.thread, site, event);
        }
        let mut judge = self.stage.judge();
        let Judge { oracle, violations, .. } = &mut *judge;
        oracle.apply(Label::from(site), event, violations);
    }
}

/// Works the shifts, one thread each, from where `watched` stands.
///
/// # Panics
/// When an actor panics, or an actor that owns something has two shifts.
#[must_use]
pub fn work<P: Threads>(watched: &Watched, config: &Config, shifts: &[Shift], listener: Option<Listener>) -> Worked
where
    World<P>: Send + Sync,
    P::Cell<u8>: Send + Sync,
{
    let Cell { world, prefill, decode, workers, .. } = &watched.cell;
    let has = |actor| shifts.iter().any(|shift| shift.actor == actor);
    let idle = u8::from(!has(Actor::PrefillScheduler)) + u8::from(!has(Actor::DecodeScheduler));
    let stage = Arc::new(Stage::<P> {
        world: world.rehosted(&config.scope),
        config: config.clone(),
        ended: AtomicU8::new(idle),
        ticks: Shared::new(0),
        timed: has(Actor::Clock),
        connections: Connections::new(shifts),
        order: Order::new(),
        judge: Mutex::new(Judge { oracle: watched.oracle.clone(), violations: Vec::new(), cut_short: false }),
        tools: Mutex::new(Tools { prefill: prefill.clone(), decode: decode.clone(), workers: workers.clone() }),
        listener,
    });
    let bodies = shifts.iter().enumerate().map(|(thread, shift)| Body::new(thread, *shift).on(&stage)).collect();
    P::run(bodies);
    let judge = std::mem::replace(
        &mut *stage.judge(),
        Judge { oracle: Oracle::default(), violations: Vec::new(), cut_short: false },
    );
    let tools = stage.tools();
    let mut cell = watched.cell.clone();
    cell.world = stage.world.rehosted(&config.scope);
    cell.prefill.clone_from(&tools.prefill);
    cell.decode.clone_from(&tools.decode);
    cell.workers.clone_from(&tools.workers);
    cell.disturbed_by(shifts);
    Worked { watched: Watched { cell, oracle: judge.oracle }, violations: judge.violations, cut_short: judge.cut_short }
}
