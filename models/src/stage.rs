//! One execution: a script leads up, threads race, a drain shows what came of it.

use crate::record;
use pagefence::cell::{Config, Listener, Shift, Site, Step, Watched, Worked, World, work};
use pagefence::explore::{DRAIN_BOUND, Serving, Signature, Walker};
use pagefence::lifetime::{Event, Violation};
use pagefence::platform::Threads;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Where threads race: the state that a script led to, and who works from there.
#[derive(Debug)]
pub struct Stage {
    serving: Serving,
    /// Behind a lock since engines want what they run to be shared between threads; they do not do so at once.
    start: Mutex<Watched>,
    shifts: Vec<Shift>,
}

impl Clone for Stage {
    fn clone(&self) -> Self {
        Self { serving: self.serving.clone(), start: Mutex::new(self.start().clone()), shifts: self.shifts.clone() }
    }
}

impl Stage {
    /// The stage after `lead_up`, of which steps that are not enabled under this profile are left out.
    #[must_use]
    pub fn new(config: Config, lead_up: &[Step], shifts: &[Shift]) -> Self {
        let serving = Serving::new(config);
        let mut walker = Walker::new(&serving);
        for step in lead_up {
            if walker.enabled().contains(step) {
                walker.take(step);
            }
        }
        let start = walker.state().clone();
        Self { serving, start: Mutex::new(start), shifts: shifts.to_vec() }
    }

    /// The state in which the threads start.
    #[must_use]
    pub fn start_state(&self) -> Watched {
        self.start().clone()
    }

    fn start(&self) -> MutexGuard<'_, Watched> {
        self.start.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Who works.
    #[must_use]
    pub fn shifts(&self) -> &[Shift] {
        &self.shifts
    }

    /// The switches and the scope.
    #[must_use]
    pub const fn config(&self) -> &Config {
        self.serving.config()
    }

    /// Runs it once on the threads of `P`, and returns what was violated, each signature once. What the threads access
    /// and do is left in the [record].
    pub fn execute<P: Threads>(&self) -> Vec<Violation>
    where
        World<P>: Send + Sync,
        P::Cell<u8>: Send + Sync,
    {
        self.judge(self.run::<P>())
    }

    /// As [`execute`](Self::execute), and returns the state in which the threads left the cell.
    pub fn execute_to_state<P: Threads>(&self) -> (Vec<Violation>, Watched)
    where
        World<P>: Send + Sync,
        P::Cell<u8>: Send + Sync,
    {
        let worked = self.run::<P>();
        let after = worked.watched.clone();
        (self.judge(worked), after)
    }

    fn run<P: Threads>(&self) -> Worked
    where
        World<P>: Send + Sync,
        P::Cell<u8>: Send + Sync,
    {
        record::begin();
        let listener: Listener =
            Arc::new(|thread: usize, site: Site, event: &Event| record::event(thread as u8, site, event));
        work::<P>(&self.start(), self.config(), &self.shifts, Some(listener))
    }

    /// What the threads violated, and a drain after them.
    fn judge(&self, worked: Worked) -> Vec<Violation> {
        let mut seen: Vec<Violation> = Vec::new();
        let mut see = |violations: &[Violation]| {
            for violation in violations {
                let signature = Signature::from(violation);
                if !seen.iter().any(|known| Signature::from(known) == signature) {
                    seen.push(violation.clone());
                }
            }
        };
        see(&worked.violations);
        Walker::at(&self.serving, worked.watched).drain(DRAIN_BOUND, |moment| {
            see(moment.violations());
            ControlFlow::Continue(())
        });
        seen
    }
}
