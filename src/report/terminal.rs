//! A timeline for the terminal: lanes as columns, what happens in words, and the watched slots at the right.
//!
//! ```text
//!   #    cli pre fab dec   what happens                    page 1     page 2
//!   7 ▶  │   ●─▶┃   │      worker 0 posts A's write        A ░░░░ ↓A  A ░░░░ ↓A
//! ```
//! A slot is drawn when it changes or races: its owner, whose bytes it holds (a glyph for each quarter of its cells),
//! and what is in flight. Unchanged it is a dot, so that the eye finds what moved.

use super::elide::{self, Row};
use super::flight::{self, Flight};
use super::ink::{self, BOLD, DIM, Line, PLAIN};
use super::strip::{self, Glyphs};
use super::timeline::{Lane, MarkedViolation, Role, Timeline, TimelineStep};
use crate::lifetime::Severity;
use anstyle::{AnsiColor, Style};
use std::fmt;
use unicode_width::UnicodeWidthStr as _;

/// How to draw a timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TerminalOptions {
    /// How many columns there are; at least 60 are used.
    pub width: usize,
    /// Only ASCII.
    pub ascii: bool,
    /// With ANSI styles; let `anstream` strip them where nobody can see them.
    pub styled: bool,
    /// Leave out runs of at least so many steps that don't touch the watched slots; 0 shows every step.
    pub elide: usize,
}

impl Default for TerminalOptions {
    fn default() -> Self {
        Self { width: 100, ascii: false, styled: true, elide: 3 }
    }
}

/// Draws a timeline.
///
/// # Errors
/// When `out` fails.
pub fn render_terminal(timeline: &Timeline, options: &TerminalOptions, out: &mut dyn fmt::Write) -> fmt::Result {
    let screen = Screen::new(timeline, options);
    screen.head(out)?;
    for row in elide::rows(timeline, options.elide) {
        match row {
            Row::Step(at) => screen.step(at, out)?,
            Row::Gap { from, until } => screen.gap(from, until - from, out)?,
        }
    }
    screen.foot(out)
}

/// Everything that is the same for each row.
struct Screen<'a> {
    timeline: &'a Timeline,
    options: &'a TerminalOptions,
    glyphs: &'static Glyphs,
    flights: Vec<Flight>,
    /// Columns that a step's number takes.
    digits: usize,
    /// Columns between lanes.
    pitch: usize,
    /// Where the lanes start.
    lanes: usize,
    /// Where the protocol references start, and how wide they are; 0 when they follow the text.
    reference: (usize, usize),
    /// Where the text starts, and how wide it is.
    text: (usize, usize),
    /// Which watched slots fit.
    strip: Vec<strip::Column>,
    /// The last column.
    width: usize,
}

/// Columns between a step's number and the lanes: a blank, the mark, a blank.
const MARK: usize = 3;

impl<'a> Screen<'a> {
    fn new(timeline: &'a Timeline, options: &'a TerminalOptions) -> Self {
        let width = options.width.max(60);
        let pitch = match width {
            ..120 => 4,
            120..150 => 8,
            _ => 9,
        };
        // Steps of a trace are numbered by its lines.
        let digits = timeline.steps.last().map_or(0, |last| last.number.to_string().len()).max(4);
        let left = digits + MARK;
        let after = left + pitch * 3 + if pitch < 8 { 4 } else { 8 };
        let widest = |f: fn(&TimelineStep) -> usize| timeline.steps.iter().map(f).max().unwrap_or(0);
        let reference = if width < 100 { 0 } else { widest(|s| s.protocol.as_deref().map_or(0, str::width)).min(6) };
        let start = after + if reference > 0 { reference + 2 } else { 0 };
        let narrowest = if width < 100 { 26 } else { 32 };
        let strip = strip::columns(timeline, width.saturating_sub(start + narrowest));
        let taken: usize = strip.iter().map(|c| c.width + strip::GAP).sum();
        let room = width - start - taken;
        // The slots stand close to the text: on a wide screen the eye should not have to jump.
        let wanted = widest(|s| s.actor.width() + 2 + s.text.width()).max(40);
        let text = room.min(wanted);
        let strip = strip.into_iter().map(|c| c.shifted(start + text)).collect();
        Self {
            timeline,
            options,
            glyphs: if options.ascii { &strip::ASCII } else { &strip::UNICODE },
            flights: flight::flights(timeline),
            digits,
            pitch,
            lanes: left,
            reference: (after, reference),
            text: (start, text),
            strip,
            width,
        }
    }

    fn put(&self, line: Line, out: &mut dyn fmt::Write) -> fmt::Result {
        line.write(out, self.options.styled)
    }

    fn paragraph(&self, lead: &Line, style: Style, text: &str, hang: usize, out: &mut dyn fmt::Write) -> fmt::Result {
        for (i, part) in ink::wrap(&ink::clean(text), self.width - hang).into_iter().enumerate() {
            let mut line = if i == 0 { lead.clone() } else { Line::new() };
            line.to(hang).put(style, part);
            self.put(line, out)?;
        }
        Ok(())
    }

    fn flow(&self, parts: &[String], between: &str, out: &mut dyn fmt::Write) -> fmt::Result {
        for text in ink::flow(parts, between, self.width) {
            let mut line = Line::new();
            line.put(DIM, text);
            self.put(line, out)?;
        }
        Ok(())
    }

    fn head(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        let t = self.timeline;
        self.paragraph(&Line::new(), BOLD, &t.title, 0, out)?;
        let dot = if self.options.ascii { " | " } else { " · " };
        self.flow(&t.subtitle, dot, out)?;
        let mut lead = Line::new();
        match t.subject() {
            None => {
                lead.put(ink::colour(AnsiColor::Green).bold(), self.glyphs.clean);
                self.paragraph(&lead, PLAIN, "no violation", 2, out)?;
            }
            Some(subject) => {
                let severity = subject.severity();
                lead.put(role_style(Role::Broke, severity), self.glyphs.role(Role::Broke, severity));
                let others = match t.violations.len() - 1 {
                    0 => String::new(),
                    n => format!(" (and {n} more below)"),
                };
                let text = format!("{} ({severity}): {}{others}", subject.kind, subject.headline);
                self.paragraph(&lead, BOLD, &text, 2, out)?;
            }
        }
        self.put(Line::new(), out)?;
        let mut line = Line::new();
        line.to(self.digits - 1).put(DIM, "#").to(self.lanes);
        for lane in Lane::ALL {
            let name = if self.pitch < 8 { &lane.name()[..3] } else { lane.name() };
            line.to(self.lane(lane) - 1).put(DIM, name);
        }
        line.to(self.text.0).put(DIM, "what happens");
        for column in &self.strip {
            let label = ink::cut(&ink::clean(&t.watched[column.slot].label), column.width, self.glyphs.more);
            line.to(column.start).put(BOLD, label);
        }
        self.put(line, out)
    }

    /// The column of a lane's line.
    fn lane(&self, lane: Lane) -> usize {
        self.lanes + 1 + lane.column() * self.pitch
    }

    /// The lanes of one line: the actor's node and its arrow, and what is in flight after step `at`.
    fn gutter(&self, at: usize, step: Option<&TimelineStep>) -> Line {
        let g = self.glyphs;
        let live: Vec<_> = self.flights.iter().filter(|f| f.from <= at && f.until.is_none_or(|u| u > at)).collect();
        let arrow = step.and_then(|s| flight::toward(self.timeline, s, &self.flights).map(|to| (s.lane, to)));
        let mut line = Line::new();
        let mut column = self.lanes;
        while column <= self.lane(Lane::Decode) {
            let lane = Lane::ALL.into_iter().find(|lane| self.lane(*lane) == column);
            let acts = step.filter(|s| Some(s.lane) == lane);
            let inside = arrow.filter(|(from, to)| {
                let (from, to) = (self.lane(*from), self.lane(*to));
                from.min(to) < column && column < from.max(to)
            });
            match (acts, inside, lane) {
                (Some(s), _, _) => line.put(node_style(self.timeline, s), if s.fault { g.fault } else { g.node }),
                (None, Some((_, to)), _) if self.lane(to) == column + 1 => line.put(PLAIN, g.right),
                (None, Some((_, to)), _) if self.lane(to) + 1 == column => line.put(PLAIN, g.left),
                (None, Some(_), None) => line.put(PLAIN, g.dash),
                (None, Some(_), Some(Lane::Fabric)) if !live.is_empty() => line.put(PLAIN, g.cross_flight),
                (None, Some(_), Some(_)) => line.put(PLAIN, g.cross),
                (None, None, Some(Lane::Fabric)) if live.len() == 1 => {
                    line.put(strip::life_style(live[0].life).bold(), g.flight)
                }
                (None, None, Some(Lane::Fabric)) if !live.is_empty() => line.put(BOLD, g.flights),
                (None, None, Some(_)) => line.put(DIM, g.lane),
                (None, None, None) => line.put(PLAIN, " "),
            };
            column += 1;
        }
        line
    }

    fn step(&self, at: usize, out: &mut dyn fmt::Write) -> fmt::Result {
        let step = &self.timeline.steps[at];
        let role = self.timeline.role(step.number);
        let strong = role.map_or(PLAIN, |(role, severity)| role_style(role, severity));
        for (i, text) in self.words(step).into_iter().enumerate() {
            let mut line = Line::new();
            if i == 0 {
                line.put(if role.is_some() { strong } else { DIM }, format!("{:>1$} ", step.number, self.digits));
                line.put(strong, role.map_or(" ", |(role, severity)| self.glyphs.role(role, severity)));
            }
            line.to(self.lanes).append(self.gutter(at, (i == 0).then_some(step)));
            if i == 0 && self.reference.1 > 0 {
                let reference = ink::clean(step.protocol.as_deref().unwrap_or_default());
                line.to(self.reference.0).put(DIM, ink::cut(&reference, self.reference.1, self.glyphs.more));
            }
            line.to(self.text.0).append(text);
            if i == 0 {
                for column in &self.strip {
                    line.to(column.start);
                    line.append(strip::cell(self.timeline, at, column, self.glyphs));
                }
            }
            self.put(line, out)?;
        }
        for violation in self.timeline.violations.iter().filter(|v| v.broke == step.number) {
            self.callout(at, violation, out)?;
        }
        Ok(())
    }

    /// What broke in step `at`, and the numbers of the steps that led to it.
    fn callout(&self, at: usize, violation: &MarkedViolation, out: &mut dyn fmt::Write) -> fmt::Result {
        let severity = violation.severity();
        let style = role_style(Role::Broke, severity);
        let start = self.reference.0;
        let before = [(Role::Started, violation.started), (Role::Released, violation.released)];
        let numbered = |(role, n): (Role, Option<usize>)| n.map(|n| format!("{}{n}", self.glyphs.role(role, severity)));
        let story: Vec<_> = before.into_iter().filter_map(numbered).collect();
        let story = if story.is_empty() { String::new() } else { format!(" ({})", story.join(",")) };
        let text = ink::clean(&format!("{}: {}{story}", violation.kind, violation.headline));
        for (i, part) in ink::wrap(&text, self.width - start - 2).into_iter().enumerate() {
            let mut line = Line::new();
            line.to(self.lanes).append(self.gutter(at, None)).to(start);
            line.put(style, if i == 0 { self.glyphs.role(Role::Broke, severity) } else { " " });
            line.to(start + 2).put(style, part);
            self.put(line, out)?;
        }
        Ok(())
    }

    /// The text of a step, wrapped to at most three lines.
    fn words(&self, step: &TimelineStep) -> Vec<Line> {
        let actor = ink::clean(&step.actor);
        let mut text = if actor.is_empty() { step.text.clone() } else { format!("{actor}: {}", step.text) };
        if let Some(reference) = step.protocol.as_ref().filter(|_| self.reference.1 == 0) {
            text = format!("{text} [{reference}]");
        }
        let mut parts = ink::wrap(&ink::clean(&text), self.text.1);
        if parts.len() > 3 {
            parts.truncate(3);
            parts[2] = ink::cut(&format!("{} {}", parts[2], self.glyphs.more), self.text.1, self.glyphs.more);
        }
        let told = if self.timeline.role(step.number).is_some() { BOLD } else { PLAIN };
        let said = |(i, part): (usize, String)| {
            let mut line = Line::new();
            match part.strip_prefix(&actor).filter(|_| i == 0 && !actor.is_empty()) {
                Some(rest) => line.put(DIM, actor.clone()).put(told, rest),
                None => line.put(told, part),
            };
            line
        };
        parts.into_iter().enumerate().map(said).collect()
    }

    fn gap(&self, from: usize, steps: usize, out: &mut dyn fmt::Write) -> fmt::Result {
        let mut line = Line::new();
        line.to(4).put(DIM, self.glyphs.gap).to(self.lanes).append(self.gutter(from, None));
        let text = format!("{} {}", self.glyphs.more, elide::gap_text(self.timeline, steps));
        line.to(self.text.0).put(DIM, ink::cut(&text, self.width - self.text.0, self.glyphs.more));
        self.put(line, out)
    }

    fn foot(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        self.put(Line::new(), out)?;
        for legend in strip::legend(self.timeline, &self.strip, self.glyphs) {
            self.flow(&legend, "   ", out)?;
        }
        if let Some(command) = &self.timeline.reproduce {
            self.put(Line::new(), out)?;
            // Not wrapped: a command that was broken can't be pasted.
            let mut line = Line::new();
            line.put(DIM, "reproduce  ").put(BOLD, ink::clean(command));
            self.put(line, out)?;
        }
        Ok(())
    }
}

/// Roles in the order of the story: cyan starts, yellow takes away or endangers, red breaks.
fn role_style(role: Role, severity: Severity) -> Style {
    ink::colour(match role {
        Role::Started => AnsiColor::Cyan,
        Role::Broke if severity > Severity::Race => AnsiColor::Red,
        Role::Released | Role::Broke => AnsiColor::Yellow,
    })
    .bold()
}

fn node_style(timeline: &Timeline, step: &TimelineStep) -> Style {
    match timeline.role(step.number) {
        Some((role, severity)) => role_style(role, severity),
        None if step.fault => ink::colour(AnsiColor::Yellow),
        None => PLAIN,
    }
}
