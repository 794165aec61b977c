//! One state that is stepped by hand.

use super::protocol::{Protocol, Quiet, StepClass};
use crate::lifetime::Violation;

/// What just happened to a state, as an observer is told.
#[derive(Clone, Copy, Debug)]
pub enum Moment<'a, P: Protocol> {
    /// A step was taken.
    Step {
        /// Its position in the script; absent for a step of drain.
        index: Option<usize>,
        /// The step.
        step: &'a P::Step,
        /// The state that it led to.
        state: &'a P::State,
        /// What it violated.
        violations: &'a [Violation],
    },
    /// A step of the script was not enabled, and left out.
    Skipped {
        /// Its position in the script.
        index: usize,
        /// The step.
        step: &'a P::Step,
    },
    /// The state was judged at rest.
    Rest {
        /// How quiet it was.
        quiet: Quiet,
        /// The state.
        state: &'a P::State,
        /// What is wrong with it.
        violations: &'a [Violation],
    },
}

impl<'a, P: Protocol> Moment<'a, P> {
    /// What was violated.
    #[must_use]
    pub const fn violations(&self) -> &'a [Violation] {
        match self {
            Self::Step { violations, .. } | Self::Rest { violations, .. } => violations,
            Self::Skipped { .. } => &[],
        }
    }
}

/// A state together with the buffers that stepping it needs: nothing is allocated once they have grown.
#[derive(Debug)]
pub struct Walker<'p, P: Protocol> {
    pub(super) protocol: &'p P,
    pub(super) initial: P::State,
    pub(super) state: P::State,
    /// The state before the last step, where somebody needs to compare.
    pub(super) before: P::State,
    pub(super) enabled: Vec<P::Step>,
    pub(super) violations: Vec<Violation>,
}

impl<'p, P: Protocol> Walker<'p, P> {
    /// A walker in the initial state.
    pub fn new(protocol: &'p P) -> Self {
        Self::at(protocol, protocol.initial())
    }

    /// A walker in the state `initial`, which [`reset`](Self::reset) goes back to.
    pub fn at(protocol: &'p P, initial: P::State) -> Self {
        Self {
            protocol,
            state: initial.clone(),
            before: initial.clone(),
            initial,
            enabled: Vec::new(),
            violations: Vec::new(),
        }
    }

    /// Goes back to the initial state.
    pub fn reset(&mut self) {
        self.state.clone_from(&self.initial);
    }

    /// Where it stands.
    pub const fn state(&self) -> &P::State {
        &self.state
    }

    /// The enabled steps.
    #[inline]
    pub fn enabled(&mut self) -> &[P::Step] {
        self.enabled.clear();
        self.protocol.steps(&self.state, &mut self.enabled);
        &self.enabled
    }

    /// Takes a step, enabled or not, and returns what it violated. The fastest way to run a script; [`replay`] looks
    /// first whether each step is enabled.
    ///
    /// [`replay`]: super::replay()
    #[inline]
    pub fn take(&mut self, step: &P::Step) -> &[Violation] {
        self.violations.clear();
        self.protocol.apply(&mut self.state, step, &mut self.violations);
        &self.violations
    }

    /// Takes the enabled step at this position of the list that [`enabled`](Self::enabled) last made, in the state that
    /// it was made for, and returns it.
    pub(super) fn advance(&mut self, choice: usize) -> &P::Step {
        let step = &self.enabled[choice];
        self.violations.clear();
        self.protocol.advance(&mut self.state, step, &mut self.violations);
        step
    }

    /// When a timer is enabled and no progress is, what is wrong with the state as it rests. A walk passes through such
    /// states and must not wait for its drain to judge them: by then the timers have fired. `enabled` is up to date.
    pub(super) fn judge_if_only_time_can_move(&mut self) -> &[Violation] {
        let progresses = self.enabled.iter().any(|step| self.protocol.class(step) == StepClass::Progress);
        let rests = !progresses && self.a_timer_moves();
        // What a timer would violate was not asked for.
        self.violations.clear();
        if rests {
            self.protocol.quiet(&self.state, Quiet::TimersPending, &mut self.violations);
        }
        &self.violations
    }

    /// Whether some enabled timer changes the state; one that does not is no reason to wait.
    fn a_timer_moves(&mut self) -> bool {
        let timers = self.enabled.iter().filter(|step| self.protocol.class(step) == StepClass::Timer);
        for step in timers {
            self.before.clone_from(&self.state);
            self.protocol.apply(&mut self.before, step, &mut self.violations);
            if self.before != self.state {
                return true;
            }
        }
        false
    }
}
