//! What is kept of a trace for one story, and the timeline that becomes of it.

use super::Known;
use super::chain::subject;
use super::phrases;
use crate::lifetime::{Arena, Event, Life, Node, OpId, Place, Span, Spans};
use crate::report::objects::{OTHER, OWN, Object, other_end, watch};
use crate::report::{MarkedViolation, Timeline, TimelineStep, WatchedSlot};
use crate::trace::audit::Finding;
use crate::trace::render::who;
use crate::trace::schema::Context;
use rustc_hash::FxHashSet;

/// Events that are kept before those that only surround the race are dropped.
const KEPT: usize = 4096;
/// Of reads that break nothing, the last so many are shown: a request reads its pages in every step.
const READS: usize = 4;

/// One event that a story may need.
pub(super) struct Kept {
    pub(super) line: u64,
    pub(super) node: Option<Node>,
    pub(super) thread: Option<Box<str>>,
    pub(super) event: Event,
    /// Whose access it is, where the event does not say.
    pub(super) life: Option<Life>,
}

/// What one story has heard.
pub(super) struct Record<'a> {
    chain: Vec<&'a Finding>,
    lives: Vec<Life>,
    lines: Vec<u64>,
    /// The slots that the violations are about.
    slots: Vec<(Place, Spans)>,
    /// Accesses of these lives that are live.
    live: Vec<(OpId, Life)>,
    kept: Vec<Kept>,
    /// Too much happens: only what races is kept from now on.
    full: bool,
}

impl<'a> Record<'a> {
    pub(super) fn new(chain: Vec<&'a Finding>) -> Self {
        let (mut lives, mut lines, mut slots) = (Vec::new(), Vec::new(), Vec::new());
        for violation in chain.iter().map(|finding| &finding.violation) {
            lives.extend([Some(violation.life), violation.other].into_iter().flatten());
            let labels = [violation.started, violation.released, Some(violation.broke)];
            lines.extend(labels.into_iter().flatten().map(|label| u64::from(label.0)));
            slots.extend(violation.place.map(|place| (place, violation.slots.clone())));
        }
        Self { chain, lives, lines, slots, live: Vec::new(), kept: Vec::new(), full: false }
    }

    /// The line in which the last of its violations breaks.
    pub(super) fn last(&self) -> u64 {
        self.lines.iter().copied().max().unwrap_or_default()
    }

    pub(super) fn hear(&mut self, known: &Known, line: u64, context: &Context<'_>, event: &Event) {
        if line > self.last() {
            return;
        }
        let access = event.op().and_then(|op| self.live.iter().find(|live| live.0 == op)).map(|live| live.1);
        let Some(life) = event.life().or(access) else { return };
        let own = self.lives.contains(&life);
        // Who else has the slots between the two that race is part of the story.
        let given = matches!(event, Event::Alloc { .. } | Event::Free { .. }) && touches(known, event, &self.slots);
        if !own && !given {
            return;
        }
        match event {
            Event::Post { op, .. } => self.live.push((*op, life)),
            Event::Settle { op } => self.live.retain(|live| live.0 != *op),
            _ => {}
        }
        let marked = self.lines.contains(&line);
        let idle = matches!(event, Event::Read { .. }) && !touches(known, event, &self.slots);
        if !marked && (self.full || idle) {
            return;
        }
        let thread = context.thread.map(Into::into);
        self.kept.push(Kept { line, node: context.node, thread, event: event.clone(), life: Some(life) });
        if self.kept.len() >= KEPT && !self.full {
            let (lines, slots) = (&self.lines, &self.slots);
            self.kept.retain(|kept| {
                let read = matches!(kept.event, Event::Read { .. });
                lines.contains(&kept.line) || !read && touches(known, &kept.event, slots) || kept.event.op().is_some()
            });
            self.full = self.kept.len() > KEPT / 2;
        }
    }

    pub(super) fn timeline(mut self, known: &Known) -> Timeline {
        let about = subject(&self.chain);
        let mut timeline = Timeline::new(self.chain[about].to_string());
        timeline.subtitle.push("numbers are lines of the trace".to_owned());
        timeline.subtitle.extend(self.names());
        if self.full {
            timeline.subtitle.push("too much happens to these slots to show all of it".to_owned());
        }
        timeline.watched = self.watched(known, about);
        // The answer to a request that was refused is told late, with the line of the refusal.
        self.kept.sort_by_key(|kept| kept.line);
        for step in self.steps(known, &timeline.watched) {
            timeline.push(step);
        }
        for finding in &self.chain {
            let watched = timeline.concerned(&finding.violation);
            timeline.violations.push(MarkedViolation::of(&finding.violation, watched, |label| label.0 as usize));
        }
        timeline.subject = Some(about);
        timeline.fill_slots();
        timeline
    }

    /// What the lives are called in the trace: `A: request long`. The picture has room for a letter only.
    fn names(&self) -> Vec<String> {
        let mut names = Vec::new();
        for finding in &self.chain {
            let violation = &finding.violation;
            let both = [(Some(violation.life), &finding.request), (violation.other, &finding.other)];
            for (life, name) in both.into_iter().filter_map(|(life, name)| Some((life?, name.as_deref()?))) {
                let text = format!("{life}: request {}", who(Some(name), life));
                if !names.contains(&text) {
                    names.push(text);
                }
            }
        }
        names
    }

    /// The slots of the violation, then those at the other end of its access; where it has none, slots of its life.
    fn watched(&self, known: &Known, about: usize) -> Vec<WatchedSlot> {
        let violation = &self.chain[about].violation;
        let mut slots: Vec<(Place, u32)> = Vec::new();
        if let Some(place) = violation.place {
            slots.extend(violation.slots.iter().flat_map(|run| run.start..run.end()).take(OWN).map(|at| (place, at)));
        }
        let posted = violation.started.map(|label| u64::from(label.0));
        let post = self.kept.iter().filter(|kept| Some(kept.line) == posted).find_map(|kept| match &kept.event {
            Event::Post { op, source, target, .. } if Some(*op) == violation.op => Some((source, target)),
            _ => None,
        });
        if let Some((source, target)) = post {
            let end = |cells: &Option<_>| cells.as_ref().map(|cells| Object::of_cells(known, cells));
            slots.extend(other_end(&slots, end(source).as_ref(), end(target).as_ref()));
        }
        if slots.is_empty() {
            let given = self.kept.iter().filter_map(|kept| match &kept.event {
                Event::Alloc { life, slots } if *life == violation.life && slots.place.arena == Arena::KvPage => {
                    Some(slots)
                }
                _ => None,
            });
            let own = given
                .flat_map(|given| given.runs.iter().flat_map(|run| (run.start..run.end()).map(|at| (given.place, at))));
            slots.extend(own.take(OTHER));
        }
        slots.into_iter().filter_map(|at| watch(known, known.lane(at.0.node), at)).collect()
    }

    /// What touches the watched slots, how the lives begin and end, and what is marked.
    fn steps(&self, known: &Known, watched: &[WatchedSlot]) -> Vec<TimelineStep> {
        let slots: Vec<(Place, Spans)> =
            watched.iter().map(|slot| (slot.place, [Span::new(slot.index, 1)].into_iter().collect())).collect();
        // Accesses that touch a watched slot: what lands and settles names them alone.
        let mut accesses: FxHashSet<OpId> = FxHashSet::default();
        let mut shown: Vec<&Kept> = Vec::new();
        for kept in &self.kept {
            let hit = touches(known, &kept.event, &slots);
            let told = match (&kept.event, kept.event.op()) {
                (Event::Post { op, .. }, _) => {
                    if hit {
                        accesses.insert(*op)
                    } else {
                        accesses.remove(op)
                    };
                    hit
                }
                (_, Some(op)) => accesses.contains(&op),
                (Event::Begin { .. } | Event::Finish { .. } | Event::Decide { .. } | Event::Crash { .. }, _) => {
                    kept.life.is_some_and(|life| self.lives.contains(&life))
                }
                _ => hit,
            };
            if told || self.lines.contains(&kept.line) {
                shown.push(kept);
            }
        }
        let idle = |kept: &Kept| matches!(kept.event, Event::Read { .. }) && !self.lines.contains(&kept.line);
        let mut surplus = shown.iter().filter(|kept| idle(kept)).count().saturating_sub(READS);
        shown.retain(|kept| {
            let drop = surplus > 0 && idle(kept);
            surplus -= usize::from(drop);
            !drop
        });
        shown.chunk_by(|one, other| one.line == other.line).map(|line| phrases::step(known, line)).collect()
    }
}

/// Whether an event names one of these slots.
fn touches(known: &Known, event: &Event, slots: &[(Place, Spans)]) -> bool {
    let hit = |object: &Object| {
        let here = slots.iter().filter(|(place, _)| *place == object.place);
        here.flat_map(|(_, runs)| runs.iter())
            .any(|run| object.runs.iter().any(|other| run.intersection(*other).is_some()))
    };
    match event {
        Event::Alloc { slots, .. } | Event::Free { slots, .. } => hit(&slots.into()),
        Event::Write { cells, .. } | Event::Read { cells, .. } => hit(&Object::of_cells(known, cells)),
        Event::Post { source, target, .. } => {
            [source, target].into_iter().flatten().any(|cells| hit(&Object::of_cells(known, cells)))
        }
        _ => false,
    }
}
