//! The watched slots of a terminal timeline: which fit, and how one is drawn.

use super::ink::{self, DIM, Line, PLAIN};
use super::timeline::{Direction, Role, SlotState, Timeline};
use crate::lifetime::{Life, Severity};
use anstyle::{AnsiColor, Style};
use unicode_width::UnicodeWidthStr as _;

/// Blanks before a slot.
pub(super) const GAP: usize = 2;
/// At most so many glyphs for the bytes of a slot.
const BYTES: u32 = 4;

/// What is drawn with.
pub(super) struct Glyphs {
    pub(super) node: &'static str,
    pub(super) fault: &'static str,
    pub(super) lane: &'static str,
    pub(super) flight: &'static str,
    pub(super) flights: &'static str,
    pub(super) dash: &'static str,
    pub(super) cross: &'static str,
    pub(super) cross_flight: &'static str,
    pub(super) left: &'static str,
    pub(super) right: &'static str,
    pub(super) gap: &'static str,
    pub(super) more: &'static str,
    pub(super) clean: &'static str,
    roles: [&'static str; 3],
    free: &'static str,
    unwritten: &'static str,
    same: &'static str,
    write: &'static str,
    read: &'static str,
}

impl Glyphs {
    /// The mark of a role; what is only dangerous so far is marked less.
    pub(super) fn role(&self, role: Role, severity: Severity) -> &'static str {
        if role == Role::Broke && severity <= Severity::Race { "!" } else { self.roles[role as usize] }
    }
}

pub(super) static UNICODE: Glyphs = Glyphs {
    node: "●",
    fault: "◆",
    lane: "│",
    flight: "┃",
    flights: "║",
    dash: "─",
    cross: "┼",
    cross_flight: "╂",
    left: "◀",
    right: "▶",
    gap: "⋮",
    more: "…",
    clean: "✓",
    roles: ["①", "✂", "✖"],
    free: "–",
    unwritten: "░",
    same: "·",
    write: "↓",
    read: "↑",
};

pub(super) static ASCII: Glyphs = Glyphs {
    node: "o",
    fault: "*",
    lane: "|",
    flight: "#",
    flights: "#",
    dash: "-",
    cross: "+",
    cross_flight: "+",
    left: "<",
    right: ">",
    gap: ":",
    more: "...",
    clean: "ok",
    roles: ["@", "/", "X"],
    free: "-",
    unwritten: ".",
    same: ".",
    write: "<",
    read: ">",
};

/// A watched slot that is drawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column {
    pub(super) slot: usize,
    pub(super) start: usize,
    pub(super) width: usize,
    /// How many glyphs for its bytes.
    bytes: u32,
    /// How many accesses in flight there is room for.
    flights: usize,
}

impl Column {
    pub(super) const fn shifted(mut self, by: usize) -> Self {
        self.start += by;
        self
    }
}

/// The slots that fit into `room` columns, those in violations first; drawn in their own order. `start` of each is
/// relative to the end of the text.
pub(super) fn columns(timeline: &Timeline, room: usize) -> Vec<Column> {
    let mut by_weight: Vec<usize> = (0..timeline.watched.len()).collect();
    let weight = |slot: &usize| timeline.violations.iter().filter(|v| v.watched.contains(slot)).count();
    by_weight.sort_by_key(|slot| std::cmp::Reverse(weight(slot)));
    let mut left = room;
    let mut chosen = Vec::new();
    for slot in by_weight {
        let watched = &timeline.watched[slot];
        let bytes = watched.cells.clamp(1, BYTES);
        let states = timeline.steps.iter().filter_map(|s| s.slots.get(slot));
        let flights = states.map(|s| s.in_flight.len()).max().unwrap_or(0).clamp(1, 3);
        let drawn = 2 + bytes as usize + 1 + 2 * flights;
        let width = drawn.max(watched.label.width().min(8));
        if let Some(rest) = left.checked_sub(width + GAP) {
            left = rest;
            chosen.push(Column { slot, start: 0, width, bytes, flights });
        }
    }
    // What is left goes to labels that are longer than what stands under them.
    for column in &mut chosen {
        let more = timeline.watched[column.slot].label.width().min(16).saturating_sub(column.width).min(left);
        column.width += more;
        left -= more;
    }
    chosen.sort_by_key(|c| c.slot);
    let mut start = GAP;
    for column in &mut chosen {
        column.start = start;
        start += column.width + GAP;
    }
    chosen
}

/// A slot after step `at`: drawn when it changed or when the step races over it, a dot otherwise.
pub(super) fn cell(timeline: &Timeline, at: usize, column: &Column, glyphs: &Glyphs) -> Line {
    let now = timeline.slot(at, column.slot);
    let before = at.checked_sub(1).map(|b| timeline.slot(b, column.slot)).unwrap_or_default();
    let number = timeline.steps[at].number;
    let races = timeline.roles(number).any(|(v, _)| timeline.violations[v].watched.contains(&column.slot));
    let mut line = Line::new();
    if !races && !changed(&before, &now) {
        line.put(DIM, glyphs.same);
        return line;
    }
    let strong = |differs: bool, style: Style| if differs { style.bold() } else { style };
    match now.owner {
        Some(owner) => line.put(strong(now.owner != before.owner, life_style(owner)), glyph(owner)),
        None => line.put(strong(now.owner != before.owner, PLAIN), glyphs.free),
    };
    line.put(PLAIN, " ");
    let written = now.content != before.content;
    for life in bytes(&now, column.bytes) {
        match life {
            Some(life) if now.owner.is_some() && now.owner != Some(life) => {
                line.put(strong(written, life_style(life)).invert(), glyph(life))
            }
            Some(life) => line.put(strong(written, life_style(life)), glyph(life)),
            None => line.put(DIM, glyphs.unwritten),
        };
    }
    line.put(PLAIN, " ");
    for access in now.in_flight.iter().take(column.flights) {
        let arrow = match access.direction {
            Direction::Write => glyphs.write,
            Direction::Read => glyphs.read,
        };
        let new = !before.in_flight.contains(access);
        line.put(strong(new, life_style(access.life)), format!("{arrow}{}", glyph(access.life)));
    }
    line
}

/// Unwritten content may be said in two ways: no portion, or one portion of nobody.
fn changed(before: &SlotState, now: &SlotState) -> bool {
    let written = |s: &SlotState| s.content.iter().any(|p| p.life.is_some());
    before.owner != now.owner
        || before.in_flight != now.in_flight
        || before.content != now.content && (written(before) || written(now))
}

/// Whose bytes each of `n` equal parts of the slot holds: the life that isn't the owner's wins a part that it shares,
/// since a foreign byte is what a reader looks for.
fn bytes(state: &SlotState, n: u32) -> Vec<Option<Life>> {
    let total: u64 = state.content.iter().map(|p| u64::from(p.cells)).sum();
    if total == 0 {
        return vec![None; n as usize];
    }
    let part = |k: u32| {
        let (from, until) = (u64::from(k) * total, (u64::from(k) + 1) * total);
        let mut start = 0;
        let mut found = None;
        for portion in &state.content {
            let end = start + u64::from(portion.cells) * u64::from(n);
            if start < until && from < end && (found.is_none() || portion.life.is_some() && portion.life != state.owner)
            {
                found = portion.life.or(found);
            }
            start = end;
        }
        found
    };
    (0..n).map(part).collect()
}

/// One column for a life: its letter, in lower case for a later generation; the last digit of a request beyond Z.
fn glyph(life: Life) -> String {
    let letter = match u8::try_from(life.request) {
        Ok(n @ 0..26) => char::from(b'A' + n),
        _ => char::from_digit(life.request % 10, 10).unwrap_or('?'),
    };
    if life.generation > 0 { letter.to_ascii_lowercase() } else { letter }.to_string()
}

/// Colours of lives. Red is kept for what breaks.
pub(super) fn life_style(life: Life) -> Style {
    const COLOURS: [AnsiColor; 5] =
        [AnsiColor::BrightBlue, AnsiColor::Yellow, AnsiColor::Magenta, AnsiColor::Green, AnsiColor::Cyan];
    ink::colour(COLOURS[life.request as usize % COLOURS.len()])
}

/// What the glyphs mean: of the lanes, and of the slots.
pub(super) fn legend(timeline: &Timeline, drawn: &[Column], glyphs: &Glyphs) -> Vec<Vec<String>> {
    let mut lanes = vec![
        format!("{} step", glyphs.node),
        format!("{} injected fault", glyphs.fault),
        format!("{} in flight", glyphs.flight),
    ];
    if !timeline.violations.is_empty() {
        let [start, release, broke] = glyphs.roles;
        lanes.extend([format!("{start} starts"), format!("{release} takes away"), "! danger".to_owned()]);
        lanes.push(format!("{broke} breaks"));
    }
    if drawn.is_empty() {
        return vec![lanes];
    }
    let mut slots = vec![
        "slot: owner, bytes, in flight".to_owned(),
        format!("{} free", glyphs.free),
        format!("{} unwritten", glyphs.unwritten),
        format!("{}A write of A", glyphs.write),
        format!("{}A read", glyphs.read),
        format!("{} as before", glyphs.same),
    ];
    let mut lives: Vec<Life> = timeline.steps.iter().flat_map(|s| &s.slots).filter_map(|s| s.owner).collect();
    lives.sort_unstable();
    lives.dedup();
    let short = lives.iter().filter(|life| glyph(**life) != life.to_string());
    slots.extend(short.map(|life| format!("{} is {life}", glyph(*life))));
    match timeline.watched.len() - drawn.len() {
        0 => {}
        n => slots.push(format!("{n} more watched, too narrow to draw")),
    }
    vec![lanes, slots]
}
