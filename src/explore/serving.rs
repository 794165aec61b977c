//! The serving cell as a [`Protocol`]: the cell and the oracle that watches it are one state.

use super::bulk::Bulk;
use super::protocol::{Protocol, Quiet, StepClass};
use super::walker::Walker;
use crate::cell::{Cell, Config, Probe, Site, Step};
use crate::lifetime::{Event, Label, Oracle, Place, RunWord, Violation};
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};

/// A cell under a profile, in a scope.
#[derive(Clone, Debug)]
pub struct Serving {
    config: Config,
}

/// The cell and what the oracle remembers of it.
pub use crate::cell::Watched as ServingState;

/// Hears a step's events for the oracle.
struct Judge<'a> {
    oracle: &'a mut Oracle,
    found: &'a mut Vec<Violation>,
}

impl Probe for Judge<'_> {
    #[inline]
    fn emit(&mut self, site: Site, event: &Event) {
        self.oracle.apply(Label::from(site), event, self.found);
    }
}

/// Hears nothing: looking for enabled steps emits no event.
struct Deaf;

impl Probe for Deaf {
    fn emit(&mut self, _: Site, _: &Event) {}
}

/// Hears a step's events for the oracle and for a listener of the caller's.
struct Tap<'a, F> {
    judge: Judge<'a>,
    listener: F,
}

impl<F: FnMut(Site, &Event)> Probe for Tap<'_, F> {
    fn emit(&mut self, site: Site, event: &Event) {
        (self.listener)(site, event);
        self.judge.emit(site, event);
    }
}

impl Serving {
    /// The cell that `config` describes.
    #[must_use]
    pub const fn new(config: Config) -> Self {
        Self { config }
    }

    /// The profile's switches and the scope.
    #[must_use]
    pub const fn config(&self) -> &Config {
        &self.config
    }

    /// As [`Protocol::apply`], and tells `listener` of every event. Returns whether the step was enabled.
    pub fn apply_heard(
        &self,
        state: &mut ServingState,
        step: Step,
        found: &mut Vec<Violation>,
        listener: impl FnMut(Site, &Event),
    ) -> bool {
        let judge = Judge { oracle: &mut state.oracle, found };
        state.cell.take(step, &self.config, &mut Tap { judge, listener })
    }

    /// As [`Protocol::quiet`], with an oracle that has heard somebody else: an engine that went the same way as the cell.
    pub fn judge_rest(&self, state: &ServingState, oracle: &Oracle, quiet: Quiet, out: &mut Vec<Violation>) {
        state.cell.judge_quiet(oracle, quiet == Quiet::TimersPending, out);
    }
}

impl Walker<'_, Serving> {
    /// Takes the enabled step at position `choice` of the list that [`enabled`](Walker::enabled) last made, in the state that
    /// it was made for, tells `listener` of its events, and returns it with what it violated.
    ///
    /// # Panics
    /// When the list is not that long.
    pub fn choose(&mut self, choice: usize, listener: impl FnMut(Site, &Event)) -> (Step, &[Violation]) {
        let step = self.enabled[choice];
        self.violations.clear();
        let ServingState { cell, oracle } = &mut self.state;
        let judge = Judge { oracle, found: &mut self.violations };
        cell.perform(step, self.protocol.config(), &mut Tap { judge, listener });
        (step, &self.violations)
    }
}

impl Protocol for Serving {
    type State = ServingState;
    type Step = Step;

    fn initial(&self) -> ServingState {
        ServingState { cell: Cell::new(&self.config.scope), oracle: self.config.oracle() }
    }

    fn steps(&self, state: &ServingState, out: &mut Vec<Step>) {
        state.cell.steps(&self.config, &mut Deaf, out);
    }

    fn apply(&self, state: &mut ServingState, step: &Step, out: &mut Vec<Violation>) {
        let ServingState { cell, oracle } = state;
        cell.take(*step, &self.config, &mut Judge { oracle, found: out });
    }

    fn advance(&self, state: &mut ServingState, step: &Step, out: &mut Vec<Violation>) {
        let ServingState { cell, oracle } = state;
        cell.perform(*step, &self.config, &mut Judge { oracle, found: out });
    }

    fn class(&self, step: &Step) -> StepClass {
        match step {
            Step::Submit => StepClass::Client,
            Step::Elapse => StepClass::Timer,
            fault if fault.is_fault() => StepClass::Fault,
            _ => StepClass::Progress,
        }
    }

    fn family(&self, step: &Step) -> u8 {
        step.family()
    }

    fn quiet(&self, state: &ServingState, quiet: Quiet, out: &mut Vec<Violation>) {
        self.judge_rest(state, &state.oracle, quiet, out);
    }

    /// With `symmetry`, pages are named in the order in which the cell mentions them: every page is in exactly one
    /// free list or page table, so the naming is total, and two states that differ by a renaming of pages get the same
    /// name. Requests need no renaming: a scope sends them in one order.
    fn fingerprint(&self, state: &ServingState, symmetry: bool) -> u64 {
        if !symmetry || self.config.scope.prefill_pages.max(self.config.scope.decode_pages) > RENAMED_PAGES {
            let mut hasher = Bulk::default();
            state.hash(&mut hasher);
            return hasher.finish();
        }
        let mut renaming = Renaming::default();
        state.cell.hash(&mut renaming);
        renaming.flush();
        let Renaming { mut inner, orders, .. } = renaming;
        let empty: &[u32] = &[];
        state.oracle.hash_renamed(&mut inner, |place| {
            orders.iter().find(|order| order.0 == place).map_or(empty, |order| order.1.as_slice())
        });
        inner.finish()
    }
}

/// The largest pool whose pages are renamed: the work goes with the square of it, and a search over larger pools is a
/// search over few states.
const RENAMED_PAGES: u32 = 64;

/// A hasher that names KV pages by their first mention.
#[derive(Default)]
struct Renaming {
    inner: Bulk,
    orders: SmallVec<[(Place, SmallVec<[u32; 16]>); 4]>,
    /// A length that has not been hashed yet: into how many runs a list of pages is cut depends on their numbers, so
    /// that length is replaced by the number of pages.
    length: Option<usize>,
    /// How many runs are left of the list of pages that is being hashed.
    runs: usize,
    /// How many pages it had so far.
    pages: u64,
}

/// Tells the number of pages that ends a list from the names before it.
const END_OF_PAGES: u64 = 1 << 63;

impl Renaming {
    #[inline]
    fn flush(&mut self) {
        if let Some(length) = self.length.take() {
            self.inner.write_usize(length);
        }
    }

    fn name(&mut self, place: Place, page: u32) -> u64 {
        let at = self.orders.iter().position(|order| order.0 == place).unwrap_or_else(|| {
            self.orders.push((place, SmallVec::new()));
            self.orders.len() - 1
        });
        let order = &mut self.orders[at].1;
        let name = order.iter().position(|known| *known == page).unwrap_or_else(|| {
            order.push(page);
            order.len() - 1
        });
        name as u64
    }
}

impl Hasher for Renaming {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        self.flush();
        self.inner.write(bytes);
    }

    #[inline]
    fn write_u8(&mut self, i: u8) {
        self.flush();
        self.inner.write_u8(i);
    }

    #[inline]
    fn write_u16(&mut self, i: u16) {
        self.flush();
        self.inner.write_u16(i);
    }

    #[inline]
    fn write_u32(&mut self, i: u32) {
        self.flush();
        self.inner.write_u32(i);
    }

    #[inline]
    fn write_u64(&mut self, i: u64) {
        self.flush();
        self.inner.write_u64(i);
    }

    #[inline]
    fn write_usize(&mut self, i: usize) {
        self.flush();
        self.length = Some(i);
    }

    #[inline]
    fn write_isize(&mut self, i: isize) {
        self.flush();
        self.inner.write_isize(i);
    }

    /// Only runs of slots come this way. How a list of pages is cut into runs depends on their numbers, so pages are
    /// hashed one by one.
    fn write_u128(&mut self, word: u128) {
        let Some(RunWord { place, run }) = RunWord::kv_pages(word) else {
            self.flush();
            self.inner.write_u128(word);
            return;
        };
        if let Some(length) = self.length.take() {
            // Not empty; how many follows the last.
            self.inner.write_usize(1);
            (self.runs, self.pages) = (length, 0);
        }
        for page in run.start..run.end() {
            let name = self.name(place, page);
            self.inner.write_u64(name);
        }
        self.runs -= 1;
        self.pages += u64::from(run.len);
        if self.runs == 0 {
            self.inner.write_u64(self.pages | END_OF_PAGES);
        }
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.inner.finish()
    }
}
