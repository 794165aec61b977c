//! Every fair step until nothing is left to do.

use super::protocol::{Protocol, Quiet, StepClass};
use super::walker::{Moment, Walker};
use std::ops::ControlFlow;

/// How a drain went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drained {
    /// Steps taken that changed the state or violated something.
    pub steps: usize,
    /// Whether it gave up: fair steps go on changing the state for longer than the bound, so the state was never
    /// judged at rest. Not a pass.
    pub livelock: bool,
    /// Whether the observer ended it.
    pub stopped: bool,
}

impl<P: Protocol> Walker<'_, P> {
    /// Takes progress steps in rounds (each step that is enabled when the round begins, once, in the protocol's order)
    /// until a round changes nothing, then one timer, and so on, until no timer changes anything either. Clients send
    /// nothing and nothing further fails.
    ///
    /// The state is judged each time progress runs out: with [`Quiet::TimersPending`] when a timer is left, and with
    /// [`Quiet::Final`] at the end. The observer is told of each step that changed the state or violated something,
    /// and of each judgement, and may end the drain. At most `bound` steps are taken.
    pub fn drain(&mut self, bound: usize, mut observe: impl FnMut(Moment<'_, P>) -> ControlFlow<()>) -> Drained {
        let mut drained = Drained::default();
        let mut timers_fired = 0;
        loop {
            if self.run_out_of_progress(bound, &mut drained, &mut observe).is_break() {
                return drained;
            }
            // `enabled` is that of the last round, which left the state alone.
            self.enabled.retain(|step| self.protocol.class(step) == StepClass::Timer);
            let Some(timer) = self.fire_a_timer(timers_fired) else {
                self.violations.clear();
                self.protocol.quiet(&self.state, Quiet::Final, &mut self.violations);
                let rest = Moment::Rest { quiet: Quiet::Final, state: &self.state, violations: &self.violations };
                drained.stopped = observe(rest).is_break();
                return drained;
            };
            timers_fired += 1;
            let mut pending = Vec::new();
            self.protocol.quiet(&self.before, Quiet::TimersPending, &mut pending);
            let rest = Moment::Rest { quiet: Quiet::TimersPending, state: &self.before, violations: &pending };
            if observe(rest).is_break() {
                self.state.clone_from(&self.before);
                drained.stopped = true;
                return drained;
            }
            if drained.steps == bound {
                drained.livelock = true;
                return drained;
            }
            drained.steps += 1;
            let step = &self.enabled[timer];
            if observe(Moment::Step { index: None, step, state: &self.state, violations: &self.violations }).is_break()
            {
                drained.stopped = true;
                return drained;
            }
        }
    }

    /// Rounds of progress steps until one changes nothing. Breaks when the drain ends here.
    fn run_out_of_progress(
        &mut self,
        bound: usize,
        drained: &mut Drained,
        observe: &mut impl FnMut(Moment<'_, P>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        loop {
            self.enabled();
            let mut moved = false;
            for step in &self.enabled {
                if self.protocol.class(step) != StepClass::Progress {
                    continue;
                }
                self.before.clone_from(&self.state);
                self.violations.clear();
                self.protocol.apply(&mut self.state, step, &mut self.violations);
                let changed = self.state != self.before;
                if !changed && self.violations.is_empty() {
                    continue;
                }
                if drained.steps == bound {
                    drained.livelock = true;
                    return ControlFlow::Break(());
                }
                drained.steps += 1;
                moved |= changed;
                let violations = &self.violations;
                let flow = observe(Moment::Step { index: None, step, state: &self.state, violations });
                if flow.is_break() {
                    drained.stopped = true;
                    return flow;
                }
            }
            if !moved {
                return ControlFlow::Continue(());
            }
        }
    }

    /// Fires the first of the enabled timers that changes the state, beginning with another one each time, so that no
    /// timer starves. Leaves the state before in `before`, and returns its position.
    fn fire_a_timer(&mut self, turn: usize) -> Option<usize> {
        let count = self.enabled.len();
        self.before.clone_from(&self.state);
        (0..count).map(|i| (turn + i) % count).find(|&at| {
            self.violations.clear();
            self.protocol.apply(&mut self.state, &self.enabled[at], &mut self.violations);
            self.state != self.before
        })
    }
}
