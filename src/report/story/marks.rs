//! Which steps a violation is about: when its access was posted, when its slots were taken away.

use super::beat::Beat;
use crate::cell::{Config, Site};
use crate::lifetime::{Event, Label, Life, OpId, Place, Slots, Span, Violation};
use crate::report::headline::headline;
use crate::report::objects::Object;
use crate::report::timeline::MarkedViolation;
use rustc_hash::FxHashMap;

/// An access since it was posted, also after it has settled.
struct Access {
    life: Life,
    source: Option<Object>,
    target: Option<Object>,
    posted: usize,
    released: Option<usize>,
    live: bool,
}

/// What has been heard so far, by step.
pub(super) struct Marks<'a> {
    config: &'a Config,
    accesses: FxHashMap<OpId, Access>,
    given: Vec<(Place, Span, Life, usize)>,
    /// Every event's step, site, life and operation, for what neither an access nor an owner explains.
    heard: Vec<(usize, Site, Option<Life>, Option<OpId>)>,
}

impl<'a> Marks<'a> {
    pub(super) fn new(config: &'a Config) -> Self {
        Self { config, accesses: FxHashMap::default(), given: Vec::new(), heard: Vec::new() }
    }

    /// Takes note of step `number`.
    pub(super) fn hear(&mut self, number: usize, beat: &Beat) {
        for (site, event) in &beat.heard {
            self.event(number, event);
            let (life, op) = (event.life(), event.op());
            let life = life.or_else(|| Some(self.accesses.get(&op?)?.life));
            self.heard.push((number, *site, life, op));
        }
    }

    fn event(&mut self, number: usize, event: &Event) {
        match event {
            Event::Alloc { life, slots } => {
                self.given.extend(slots.runs.iter().map(|run| (slots.place, *run, *life, number)));
            }
            Event::Free { slots, .. } => {
                for access in self.accesses.values_mut().filter(|access| access.live) {
                    let ends = [&access.source, &access.target];
                    if ends.into_iter().flatten().any(|end| overlaps(end, slots)) {
                        access.released.get_or_insert(number);
                    }
                }
            }
            Event::Post { op, life, source, target } => {
                let end = |cells: &Option<_>| cells.as_ref().map(|cells| Object::of_cells(self.config, cells));
                let access = Access {
                    life: *life,
                    source: end(source),
                    target: end(target),
                    posted: number,
                    released: None,
                    live: true,
                };
                self.accesses.insert(*op, access);
            }
            Event::Settle { op } => {
                if let Some(access) = self.accesses.get_mut(op) {
                    access.live = false;
                }
            }
            _ => {}
        }
    }

    /// A violation that broke in step `broke`, with the steps that led to it.
    pub(super) fn mark(&self, violation: &Violation, broke: usize) -> MarkedViolation {
        let access = violation.op.and_then(|op| self.accesses.get(&op));
        let (started, released) = match access {
            Some(access) => (Some(access.posted), access.released.filter(|_| violation.released.is_some())),
            None => (
                violation.started.and_then(|label| self.last(label, violation)),
                violation.released.and_then(|label| self.last(label, violation)),
            ),
        };
        MarkedViolation {
            kind: violation.kind,
            headline: headline(violation),
            watched: Vec::new(),
            started: started.filter(|_| violation.started.is_some()),
            released,
            broke,
        }
    }

    /// The last step in which the protocol step `label` said something about the violation's lives or its access.
    fn last(&self, label: Label, violation: &Violation) -> Option<usize> {
        let site = Site::try_from(label).ok()?;
        let about = |life: Option<Life>, op: Option<OpId>| {
            op.is_some() && op == violation.op
                || life.is_some() && (life == Some(violation.life) || life == violation.other)
        };
        self.heard.iter().rev().find(|(_, known, life, op)| *known == site && about(*life, *op)).map(|heard| heard.0)
    }

    /// Where an access reads and writes.
    pub(super) fn ends(&self, op: OpId) -> Option<(Option<Object>, Option<Object>)> {
        self.accesses.get(&op).map(|access| (access.source.clone(), access.target.clone()))
    }

    /// Every run that was given to a life, in order.
    pub(super) fn given(&self) -> impl Iterator<Item = (Place, Span, Life)> + '_ {
        self.given.iter().map(|(place, run, life, _)| (*place, *run, *life))
    }
}

fn overlaps(end: &Object, slots: &Slots) -> bool {
    end.place == slots.place
        && end.runs.iter().any(|mine| slots.runs.iter().any(|theirs| mine.intersection(*theirs).is_some()))
}

/// Whether a violation belongs to the story of another: the same access, the same slots, or the very same. Names of
/// accesses are used again, so the same access is one that was posted in the same step.
pub(super) fn related(main: &(Violation, MarkedViolation), other: &(Violation, MarkedViolation)) -> bool {
    let ((main, main_marked), (other, other_marked)) = (main, other);
    let slots = main.place.is_some()
        && main.place == other.place
        && main.slots.iter().any(|mine| other.slots.iter().any(|theirs| mine.intersection(*theirs).is_some()));
    let access = main.op.is_some() && main.op == other.op && main_marked.started == other_marked.started;
    slots || access || main == other
}
