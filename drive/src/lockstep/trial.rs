//! A script on an engine, judged as it runs by the oracle that judges the cell.

use super::names::Names;
use super::plan::Move;
use super::side::{Heard, Sides};
use crate::error::DriveError;
use crate::pair::Hosts;
use pagefence::cell::{Config, Site, decode_node, place, prefill_node};
use pagefence::explore::{Serving, Signature, Words};
use pagefence::lifetime::{Arena, Event, Label, Oracle, Violation};

/// A move on an engine.
#[derive(Clone, Debug)]
pub struct Told {
    /// The move.
    pub at: Move,
    /// What the cell and the engine say.
    pub heard: Heard,
    /// What the engine did, as it is written into a trace.
    pub events: Vec<Event>,
    /// What that violates.
    pub violations: Vec<Violation>,
    /// Slots that were read and held something else than their reader had to find there: not inferred, looked at.
    pub stale: u64,
}

/// How a script went on an engine.
#[derive(Clone, Debug, Default)]
pub struct Trial {
    /// Its steps, up to the last that the engine could take.
    pub steps: Vec<Told>,
    /// The step that has no counterpart, where there is one.
    pub inexpressible: Option<String>,
}

impl Trial {
    /// The first step in which the cell and the engine differ.
    #[must_use]
    pub fn first_difference(&self) -> Option<usize> {
        self.steps.iter().position(|told| !told.heard.agree())
    }

    /// Slots that were read and held something else than their reader had to find there.
    #[must_use]
    pub fn stale(&self) -> u64 {
        self.steps.iter().map(|told| told.stale).sum()
    }

    /// Every violation, each signature once.
    pub fn violations(&self) -> impl Iterator<Item = (usize, &Violation)> {
        let mut seen: Vec<Signature> = Vec::new();
        let all = self.steps.iter().enumerate().flat_map(|(at, told)| told.violations.iter().map(move |one| (at, one)));
        all.filter(move |(_, violation)| {
            let signature = Signature::from(*violation);
            let new = !seen.contains(&signature);
            seen.push(signature);
            new
        })
    }

    /// Whether the engine shows a violation of this signature.
    #[must_use]
    pub fn shows(&self, signature: &Words) -> bool {
        self.violations().any(|(_, violation)| Words::of(violation).is_some_and(|words| words == *signature))
    }
}

/// Carries out `plan` on a new pair.
///
/// # Errors
/// When a node does not do its part.
pub fn attempt(
    serving: &Serving,
    hosts: &mut Hosts,
    plan: &[Move],
    mut observe: impl FnMut(&Told),
) -> Result<Trial, DriveError> {
    let mut sides = Sides::new(serving, hosts.pair()?);
    let mut judge = Judge::new(serving.config());
    let mut trial = Trial::default();
    for at in plan.iter().copied() {
        let told = match at {
            Move::Step(step) => match sides.take(step) {
                Ok(heard) => {
                    let violations = judge.judge(&sides.cell_events, &sides.engine_events);
                    Told { at, heard, events: sides.engine_events.clone(), violations, stale: sides.pair().stale() }
                }
                Err(DriveError::NotExpressible(what)) => {
                    trial.inexpressible = Some(what);
                    break;
                }
                Err(error) => return Err(error),
            },
            // Who may rightly be unfinished is read from the cell, which stands for the engine only as long as they agree.
            Move::Rest(_) if trial.first_difference().is_some() => continue,
            Move::Rest(quiet) => {
                let violations = sides.at_rest(&judge.oracle, quiet);
                Told { at, heard: Heard::default(), events: Vec::new(), violations, stale: 0 }
            }
        };
        observe(&told);
        let died = told.events.iter().any(|event| matches!(event, Event::Crash { .. }));
        trial.steps.push(told);
        // What a dead process has left is nobody's fault.
        if died {
            break;
        }
    }
    Ok(trial)
}

/// The oracle over an engine's events. Where in the protocol they come from is taken from the cell, where it says the same in the
/// same step; where it doesn't, from the kind of event.
struct Judge {
    oracle: Oracle,
    cell: Names,
    engine: Names,
}

/// An engine's pools are cut a little larger than the cell's, and their first page is never given.
pub(crate) const SPARE_PAGES: u32 = 8;

impl Judge {
    fn new(config: &Config) -> Self {
        let scope = &config.scope;
        let mut oracle = Oracle::default();
        for (node, pages) in [(prefill_node(0), scope.prefill_pages), (decode_node(0), scope.decode_pages)] {
            oracle.declare(place(node, Arena::KvPage), pages + SPARE_PAGES, scope.page_size);
            oracle.declare(place(node, Arena::MetadataRow), scope.metadata_rows, 1);
        }
        let names = || Names::new(scope.page_size);
        Self { oracle, cell: names(), engine: names() }
    }

    fn judge(&mut self, cell: &[(Site, Event)], engine: &[Event]) -> Vec<Violation> {
        let mut sites: Vec<(String, Site)> =
            cell.iter().filter_map(|(site, event)| Some((self.cell.words(event)?, *site))).collect();
        let mut violations = Vec::new();
        for event in engine {
            let words = self.engine.words(event).unwrap_or_default();
            let same = sites.iter().position(|(other, _)| *other == words);
            let site = same.map_or_else(|| usual(event), |at| sites.remove(at).1);
            self.oracle.apply(Label::from(site), event, &mut violations);
        }
        violations
    }
}

/// Where an event of this kind usually comes from.
fn usual(event: &Event) -> Site {
    let on_decode = |node| node == decode_node(0);
    match event {
        Event::Begin { .. } => Site::Submit,
        Event::Alloc { slots, .. } => match (on_decode(slots.place.node), slots.place.arena) {
            (true, Arena::KvPage) => Site::DecodeAlloc,
            (true, _) => Site::DecodeRow,
            (false, Arena::KvPage) => Site::PrefillAlloc,
            (false, _) => Site::PrefillRow,
        },
        Event::Free { slots, .. } if on_decode(slots.place.node) => Site::DecodeReleaseNow,
        Event::Free { .. } => Site::PrefillFailure,
        Event::Write { cells, .. } if on_decode(cells.place.node) => Site::DecodeStep,
        Event::Write { cells, .. } if cells.place.arena == Arena::MetadataRow => Site::PrefillSetBuf,
        Event::Write { .. } => Site::PrefillForward,
        Event::Read { cells, .. } if cells.place.arena == Arena::MetadataRow => Site::DecodeCommit,
        Event::Read { .. } => Site::DecodeStep,
        Event::Post { .. } => Site::WorkerPost,
        Event::Land { .. } => Site::Land,
        Event::Settle { .. } => Site::Settled,
        Event::Decide { .. } | Event::Finish { .. } => Site::Answer,
        Event::Crash { .. } => Site::CheckStatus,
    }
}
