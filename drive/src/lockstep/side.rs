//! What both sides say of one step.

use super::names::Names;
use crate::error::DriveError;
use crate::pair::Pair;
use pagefence::cell::{Site, Step};
use pagefence::explore::{Protocol as _, Quiet, Serving, ServingState};
use pagefence::lifetime::{Event, Oracle, Violation};

/// What one step came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Heard {
    /// What the cell says, in words, in its order.
    pub cell: Vec<String>,
    /// What the engine says.
    pub engine: Vec<String>,
}

impl Heard {
    /// Whether both say the same, in whatever order: within a step it is the engine's own affair.
    #[must_use]
    pub fn agree(&self) -> bool {
        self.differing() == (Vec::new(), Vec::new())
    }

    /// What only the cell says, and what only the engine.
    #[must_use]
    pub fn differing(&self) -> (Vec<String>, Vec<String>) {
        let only = |own: &[String], other: &[String]| {
            let mut other = other.to_vec();
            let missing = |word: &&String| other.iter().position(|o| o == *word).map(|at| other.remove(at)).is_none();
            let mut only: Vec<String> = own.iter().filter(missing).cloned().collect();
            only.sort();
            only
        };
        (only(&self.cell, &self.engine), only(&self.engine, &self.cell))
    }
}

/// The cell and a pair, side by side.
pub struct Sides<'s> {
    serving: &'s Serving,
    state: ServingState,
    pair: Pair,
    cell_names: Names,
    engine_names: Names,
    /// What the cell has violated in the last step.
    pub violations: Vec<Violation>,
    /// What the cell said in the last step, and where in the protocol.
    pub cell_events: Vec<(Site, Event)>,
    /// What the engine said in the last step.
    pub engine_events: Vec<Event>,
}

impl<'s> Sides<'s> {
    /// Both at their beginning.
    #[must_use]
    pub fn new(serving: &'s Serving, pair: Pair) -> Self {
        let names = || Names::new(serving.config().scope.page_size);
        Self {
            serving,
            state: serving.initial(),
            pair,
            cell_names: names(),
            engine_names: names(),
            violations: Vec::new(),
            cell_events: Vec::new(),
            engine_events: Vec::new(),
        }
    }

    /// The engine.
    pub fn pair(&mut self) -> &mut Pair {
        &mut self.pair
    }

    /// What is wrong with the engine, where the cell is at rest: `oracle` has heard the engine.
    #[must_use]
    pub fn at_rest(&self, oracle: &Oracle, quiet: Quiet) -> Vec<Violation> {
        let mut violations = Vec::new();
        self.serving.judge_rest(&self.state, oracle, quiet, &mut violations);
        violations
    }

    /// Both take `step`.
    ///
    /// # Errors
    /// When the engine can't.
    pub fn take(&mut self, step: Step) -> Result<Heard, DriveError> {
        self.violations.clear();
        self.cell_events.clear();
        let heard = &mut self.cell_events;
        self.serving.apply_heard(&mut self.state, step, &mut self.violations, |site, event| {
            heard.push((site, event.clone()));
        });
        self.engine_events = self.pair.take(step)?.to_vec();
        let cell = self.cell_events.iter().filter_map(|(_, event)| self.cell_names.words(event)).collect();
        let engine = self.engine_events.iter().filter_map(|event| self.engine_names.words(event)).collect();
        Ok(Heard { cell, engine })
    }
}
