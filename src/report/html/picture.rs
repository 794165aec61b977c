//! The picture: time runs to the right, a lane for each side, and under them the watched slots on the same axis.

use super::super::elide::{self, Row};
use super::super::flight::{self, Flight};
use super::super::timeline::{Lane, SlotState, Timeline, TimelineStep};
use super::{class, hue, link, mark};
use crate::lifetime::Event;
use maud::{Markup, html};

/// Where things are, in pixels.
struct Geometry<'a> {
    timeline: &'a Timeline,
    flights: Vec<Flight>,
    /// The fabric lane's track of each flight.
    tracks: Vec<usize>,
    rows: Vec<Row>,
    /// The left edge of each row, and of what follows the last.
    edges: Vec<usize>,
    /// The top of each lane, and of what follows the last.
    lanes: [usize; 5],
}

/// How wide the picture may be before it scrolls.
const PAGE: usize = 1096;
const HEAD: usize = 44;
const LANE: usize = 46;
const TRACK: usize = 24;
const GAP: usize = 34;
const SLOT: usize = 72;
const OWNER: usize = 28;
const BYTES: usize = 26;
/// A label is cut after so many characters.
const LABEL: usize = 24;

/// Draws it, with a legend.
pub(super) fn picture(id: usize, timeline: &Timeline) -> Markup {
    let g = Geometry::new(timeline);
    let width = g.right() + 16;
    let slots = g.lanes[4] + 22;
    let height = slots + SLOT * timeline.watched.len();
    html! {
        figure {
            div.scroll {
                svg width=(width) height=(height) viewBox=(format!("0 0 {width} {height}")) role="img"
                    aria-label=(format!("Timeline of {} steps", timeline.steps.len())) {
                    defs { (hatches(id)) }
                    (g.background(height))
                    (g.flights(id))
                    @for (row, _) in g.steps() { (g.arrow(id, row)) }
                    @for (row, at) in g.steps() { (g.dot(id, row, at)) }
                    @for slot in 0..timeline.watched.len() { (g.slot(id, slot, slots + SLOT * slot)) }
                }
            }
            figcaption {
                span { b { (mark(super::Role::Started, super::Severity::Exposure)) } " starts" }
                span { b { (mark(super::Role::Released, super::Severity::Exposure)) } " taken away" }
                span { b { "!" } " danger" }
                span { b { (mark(super::Role::Broke, super::Severity::Exposure)) } " breaks" }
                span { "◆ injected" }
                span { i.hatch {} "access in flight" }
                span { i.free {} "free" }
                span { i.foreign {} "another's bytes or access" }
            }
        }
    }
}

fn hatches(id: usize) -> Markup {
    html! {
        @for hue in 0..6 {
            pattern id=(format!("t{id}-h{hue}")) width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)" {
                line class=(format!("stroke{hue}")) x1="2" y1="0" x2="2" y2="7" stroke-width="3" {}
            }
        }
        marker id=(format!("t{id}-arrow")) viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto" {
            path.head d="M0 0 L8 4 L0 8 z" {}
        }
    }
}

impl<'a> Geometry<'a> {
    fn new(timeline: &'a Timeline) -> Self {
        let rows = elide::rows(timeline, 3);
        let widest = timeline.watched.iter().map(|w| w.label.chars().count().min(LABEL)).max().unwrap_or(0);
        let mut edges = vec![(72 + 8 * widest).max(128)];
        let column = (PAGE.saturating_sub(edges[0]) / rows.len().max(1)).clamp(36, 88);
        for row in &rows {
            let wide = if matches!(row, Row::Gap { .. }) { GAP } else { column };
            edges.push(edges[edges.len() - 1] + wide);
        }
        let flights = flight::flights(timeline);
        let tracks = tracks(&flights);
        let fabric = LANE.max(22 + TRACK * tracks.iter().map(|t| t + 1).max().unwrap_or(0));
        let mut lanes = [HEAD; 5];
        for (i, height) in [LANE, LANE, fabric, LANE].into_iter().enumerate() {
            lanes[i + 1] = lanes[i] + height;
        }
        Self { timeline, flights, tracks, rows, edges, lanes }
    }

    /// Where the labels end and time begins.
    fn left(&self) -> usize {
        self.edges[0]
    }

    /// Where time ends.
    fn right(&self) -> usize {
        self.edges[self.edges.len() - 1]
    }

    /// The rows that are steps, as (row, index of the step).
    fn steps(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let step = |(i, row): (usize, &Row)| match row {
            Row::Step(at) => Some((i, *at)),
            Row::Gap { .. } => None,
        };
        self.rows.iter().enumerate().filter_map(step)
    }

    fn middle(&self, row: usize) -> usize {
        usize::midpoint(self.edges[row], self.edges[row + 1])
    }

    /// The middle of the column that holds a step.
    fn x(&self, at: usize) -> usize {
        let holds = |row: &Row| match *row {
            Row::Step(step) => step == at,
            Row::Gap { from, until } => (from..until).contains(&at),
        };
        self.rows.iter().position(holds).map_or(self.left(), |row| self.middle(row))
    }

    fn y(&self, lane: Lane) -> usize {
        usize::midpoint(self.lanes[lane.column()], self.lanes[lane.column() + 1])
    }

    fn track(&self, flight: usize) -> usize {
        self.lanes[Lane::Fabric.column()] + 11 + TRACK / 2 + TRACK * self.tracks[flight]
    }

    /// The flight that an event is about, when a watched slot is under it.
    fn flight(&self, step: &TimelineStep, at: usize) -> Option<usize> {
        let of = |f: &Flight, op| f.op == op && f.from <= at && f.until.is_none_or(|until| until >= at);
        step.events.iter().find_map(|event| match event {
            Event::Post { op, .. } | Event::Land { op, .. } | Event::Settle { op } => {
                self.flights.iter().position(|f| of(f, *op))
            }
            _ => None,
        })
    }

    /// Where the actor of a step stands: on the bar of its access when it is the fabric.
    fn actor(&self, step: &TimelineStep, at: usize) -> usize {
        match self.flight(step, at) {
            Some(flight) if step.lane == Lane::Fabric => self.track(flight),
            _ => self.y(step.lane),
        }
    }

    fn background(&self, height: usize) -> Markup {
        let (left, right) = (self.left(), self.right());
        html! {
            @for lane in Lane::ALL {
                @let (top, bottom) = (self.lanes[lane.column()], self.lanes[lane.column() + 1]);
                rect.lane x=(left) y=(top) width=(right - left) height=(bottom - top) {}
                text.label x="16" y=(self.y(lane) + 4) { (lane.name()) }
                @if lane != Lane::Fabric {
                    line.rail x1=(left) x2=(right) y1=(self.y(lane)) y2=(self.y(lane)) {}
                }
            }
            text.sub x="16" y=(HEAD - 6) { "step" }
            @for (i, row) in self.rows.iter().enumerate() {
                @match row {
                    Row::Gap { from, until } => text.gap x=(self.middle(i)) y=(HEAD - 6) {
                        title { (elide::gap_text(self.timeline, until - from)) } "…"
                    },
                    Row::Step(at) => (self.column(i, *at, height)),
                }
            }
        }
    }

    /// The number of a step, and what marks it when it races.
    fn column(&self, row: usize, at: usize, height: usize) -> Markup {
        let number = self.timeline.steps[at].number;
        let x = self.middle(row);
        html! {
            @if let Some((role, severity)) = self.timeline.role(number) {
                @let class = class(role, severity);
                rect class=(format!("band {class}")) x=(x - 15) y="22" width="30" height=(height - 26) rx="4" {}
                rect class=(format!("pill {class}")) x=(x - 12) y="5" width="24" height="18" rx="9" {}
                text.pilltext x=(x) y="18" { (mark(role, severity)) }
            }
            text.tick x=(x) y=(HEAD - 6) { (number) }
        }
    }

    fn flights(&self, id: usize) -> Markup {
        let right = self.right();
        html! {
            @for (i, flight) in self.flights.iter().enumerate() {
                @let from = self.x(flight.from);
                @let until = flight.until.map_or(right, |until| self.x(until));
                @let (top, wide) = (self.track(i) - 8, until.saturating_sub(from).max(4));
                @let hue = hue(flight.life);
                g {
                    title { (what(flight)) " in flight" }
                    rect class=(format!("life{hue} tint")) x=(from) y=(top) width=(wide) height="16" rx="4" {}
                    rect x=(from) y=(top) width=(wide) height="16" rx="4" fill=(format!("url(#t{id}-h{hue})")) opacity=".35" {}
                    rect class=(format!("stroke{hue}")) x=(from) y=(top) width=(wide) height="16" rx="4" fill="none" stroke-width="1.5" {}
                    @if self.tracks[..i].contains(&self.tracks[i]) || from < self.left() + 24 + 8 * what(flight).len() {
                        text.label x=(from + 10) y=(top + 12) { (flight.life) }
                    } @else {
                        text.label.end x=(from - 10) y=(top + 12) { (what(flight)) }
                    }
                }
            }
        }
    }

    fn arrow(&self, id: usize, row: usize) -> Markup {
        let Row::Step(at) = self.rows[row] else { return html! {} };
        let step = &self.timeline.steps[at];
        let x = self.middle(row);
        let from = self.actor(step, at);
        let flight = self.flight(step, at);
        let to = flight::toward(self.timeline, step, &self.flights).map(|lane| match flight {
            Some(flight) if lane == Lane::Fabric => self.track(flight),
            _ => self.y(lane),
        });
        let settles = step.events.iter().any(|e| matches!(e, Event::Settle { .. })) && step.lane != Lane::Fabric;
        html! {
            @if let (true, Some(flight)) = (settles, flight) {
                line.settle x1=(x) x2=(x) y1=(from) y2=(self.track(flight)) {}
            }
            @if let Some(to) = to {
                // The head stops short of the line that it points at, the tail of the dot that it leaves.
                @let (tail, head) = if to > from { (from + 7, to - 3) } else { (from - 7, to + 3) };
                line.arrow x1=(x) x2=(x) y1=(tail) y2=(head) marker-end=(format!("url(#t{id}-arrow)")) {}
            }
        }
    }

    fn dot(&self, id: usize, row: usize, at: usize) -> Markup {
        let step = &self.timeline.steps[at];
        let (x, y) = (self.middle(row), self.actor(step, at));
        let class = match self.timeline.role(step.number) {
            Some((role, severity)) => format!("dot {}", class(role, severity)),
            None if step.fault => "dot fault".to_owned(),
            None => "dot".to_owned(),
        };
        html! {
            a href=(link(id, step.number)) {
                title { (step.number) ". " (step.actor) ": " (step.text) }
                @if step.fault {
                    path class=(class) d=(format!("M{} {y} L{x} {} L{} {y} L{x} {} z", x - 7, y - 7, x + 7, y + 7)) {}
                } @else {
                    circle class=(class) cx=(x) cy=(y) r="5.5" {}
                }
            }
        }
    }

    fn slot(&self, id: usize, slot: usize, top: usize) -> Markup {
        let watched = &self.timeline.watched[slot];
        html! {
            text.label x="16" y=(top + 18) { (short(&watched.label)) title { (watched.label) } }
            text.sub x=(self.left() - 10) y=(top + 18) text-anchor="end" { "owner" }
            text.sub x=(self.left() - 10) y=(top + OWNER + 16) text-anchor="end" { "bytes" }
            @for (x, wide, state) in self.runs(slot, |a, b| a.owner == b.owner) { (owner(&state, x, top, wide)) }
            @for (x, wide, state) in self.runs(slot, |a, b| a.in_flight == b.in_flight && a.owner == b.owner) {
                @for access in &state.in_flight {
                    rect x=(x) y=(top) width=(wide) height=(OWNER) rx="3" fill=(format!("url(#t{id}-h{})", hue(access.life)))
                        opacity=(if Some(access.life) == state.owner { ".45" } else { ".9" }) {}
                }
            }
            @for (x, wide, state) in self.runs(slot, |a, b| a.foreign_in_flight() == b.foreign_in_flight()) {
                @if state.foreign_in_flight() {
                    rect.foreign x=(x + 1) y=(top + 1) width=(wide - 2) height=(OWNER - 2) rx="3" {}
                }
            }
            @for (x, _, state) in self.runs(slot, |a, b| a.owner == b.owner) {
                (patch(state.owner.map(|life| (life.to_string(), hue(life))), x, top))
            }
            @for (x, wide, state) in self.runs(slot, |a, b| a.content == b.content && a.foreign_content() == b.foreign_content()) {
                (bytes(&state, x, top + OWNER + 2, wide))
            }
        }
    }

    /// Runs of columns in which a slot stays the same, as (left edge, width, state).
    fn runs(&self, slot: usize, same: impl Fn(&SlotState, &SlotState) -> bool) -> Vec<(usize, usize, SlotState)> {
        let mut runs: Vec<(usize, usize, SlotState)> = Vec::new();
        for (i, row) in self.rows.iter().enumerate() {
            let at = match *row {
                Row::Step(at) => at,
                Row::Gap { until, .. } => until - 1,
            };
            let (state, wide) = (self.timeline.slot(at, slot), self.edges[i + 1] - self.edges[i]);
            match runs.last_mut() {
                Some((_, total, last)) if same(last, &state) => *total += wide,
                _ => runs.push((self.edges[i], wide, state)),
            }
        }
        runs
    }
}

fn owner(state: &SlotState, x: usize, y: usize, wide: usize) -> Markup {
    html! {
        @match state.owner {
            Some(life) => {
                rect class=(format!("life{} tint", hue(life))) x=(x + 1) y=(y) width=(wide - 2) height=(OWNER) rx="4" {}
            },
            None => rect.free x=(x + 1) y=(y) width=(wide - 2) height=(OWNER) rx="4" {},
        }
    }
}

/// Who owns a slot, on a patch so that it reads over a hatch.
fn patch(owner: Option<(String, usize)>, x: usize, y: usize) -> Markup {
    let (text, class, ink) = match owner {
        Some((text, hue)) => (text, format!("life{hue}"), "on mid"),
        None => ("free".to_owned(), "blank".to_owned(), "sub mid"),
    };
    let wide = if class == "blank" { 34 } else { 10 + 8 * text.chars().count() };
    html! {
        rect class=(class) x=(x + 5) y=(y + 6) width=(wide) height="16" rx="4" {}
        text class=(ink) x=(x + 5 + wide / 2) y=(y + 18) { (text) }
    }
}

/// The content, each portion as high as its share.
fn bytes(state: &SlotState, x: usize, y: usize, wide: usize) -> Markup {
    let total = state.content.iter().map(|p| p.cells as usize).sum::<usize>().max(1);
    let mut before = 0;
    let portions = state.content.iter().map(|portion| {
        let top = y + BYTES * before / total;
        before += portion.cells as usize;
        (portion, top, y + BYTES * before / total - top)
    });
    html! {
        @for (portion, top, high) in portions {
            @match portion.life {
                None => rect.unwritten x=(x + 1) y=(top) width=(wide - 2) height=(high) rx="2" {},
                Some(life) => {
                    rect class=(format!("life{} solid", hue(life))) x=(x + 1) y=(top) width=(wide - 2) height=(high) rx="2" {}
                    @if high >= 8 {
                        @let size = (high - 1).min(12);
                        text.on x=(x + 8) y=(top + high / 2 + size / 3) style=(format!("font-size:{size}px")) { (life) }
                    }
                    @if state.owner.is_some_and(|owner| owner != life) {
                        rect.foreign x=(x + 2) y=(top + 1) width=(wide - 4) height=(high.max(3) - 2) rx="2" {}
                    }
                },
            }
        }
    }
}

fn what(flight: &Flight) -> String {
    let way = match (flight.reads, flight.writes) {
        (true, Some(_)) => "transfer",
        (true, None) => "read",
        (false, _) => "write",
    };
    format!("{way} of {}", flight.life)
}

fn short(label: &str) -> String {
    if label.chars().count() <= LABEL {
        label.to_owned()
    } else {
        label.chars().take(LABEL - 1).chain(['…']).collect()
    }
}

/// Gives each flight the first track on which nothing else flies.
fn tracks(flights: &[Flight]) -> Vec<usize> {
    let mut free_from: Vec<usize> = Vec::new();
    flights
        .iter()
        .map(|flight| {
            let end = flight.until.unwrap_or(usize::MAX);
            match free_from.iter().position(|free| *free < flight.from) {
                Some(track) => {
                    free_from[track] = end;
                    track
                }
                None => {
                    free_from.push(end);
                    free_from.len() - 1
                }
            }
        })
        .collect()
}
