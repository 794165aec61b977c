//! A timeline as a Mermaid sequence diagram, to paste into an issue.

use super::elide::{self, Row};
use super::flight::{self, Flight};
use super::timeline::{Lane, Role, Timeline, TimelineStep};
use crate::lifetime::Severity;
use std::fmt::{self, Write};

/// Writes a `sequenceDiagram`. Runs of at least `elide` steps that don't touch the watched slots become one note; 0
/// shows every step. Text that would end a statement or open a tag is written as Mermaid's entity codes.
///
/// # Errors
/// When `out` fails.
pub fn render_mermaid(timeline: &Timeline, elide: usize, out: &mut dyn Write) -> fmt::Result {
    let flights = flight::flights(timeline);
    out.write_str("sequenceDiagram\n")?;
    for lane in Lane::ALL {
        writeln!(out, "    participant {} as {}", id(lane), lane.name())?;
    }
    writeln!(out, "    Note over C,D: {}", Escaped(&timeline.title))?;
    for row in elide::rows(timeline, elide) {
        match row {
            Row::Step(at) => step(timeline, &timeline.steps[at], &flights, at, out)?,
            Row::Gap { from, until } => {
                writeln!(out, "    Note over C,D: … {}", Escaped(&elide::gap_text(timeline, until - from)))?;
            }
        }
    }
    Ok(())
}

fn step(timeline: &Timeline, step: &TimelineStep, flights: &[Flight], at: usize, out: &mut dyn Write) -> fmt::Result {
    let role = timeline.role(step.number);
    let colour = match role {
        Some((Role::Broke, severity)) if severity > Severity::Race => Some("rgba(220, 60, 60, 0.18)"),
        Some((Role::Started, _)) => Some("rgba(60, 130, 220, 0.14)"),
        Some(_) => Some("rgba(220, 160, 40, 0.18)"),
        None => None,
    };
    if let Some(colour) = colour {
        writeln!(out, "    rect {colour}")?;
    }
    let mut text = format!("{}. ", step.number);
    match role {
        Some((Role::Started, _)) => text.push_str("① "),
        Some((Role::Released, _)) => text.push_str("✂ "),
        Some((Role::Broke, severity)) if severity > Severity::Race => text.push_str("✖ "),
        Some((Role::Broke, _)) => text.push_str("⚠ "),
        None if step.fault => text.push_str("⚡ "),
        None => {}
    }
    if !step.actor.is_empty() {
        _ = write!(text, "{}: ", step.actor);
    }
    text.push_str(&step.text);
    if let Some(protocol) = &step.protocol {
        _ = write!(text, " [{protocol}]");
    }
    match flight::toward(timeline, step, flights) {
        Some(to) => writeln!(out, "    {}->>{}: {}", id(step.lane), id(to), Escaped(&text))?,
        None => writeln!(out, "    {}->>{}: {}", id(step.lane), id(step.lane), Escaped(&text))?,
    }
    // Slots are said where they change: a diagram has no column for them.
    let changes: Vec<String> = timeline
        .watched
        .iter()
        .enumerate()
        .filter(|(slot, _)| {
            let before = at.checked_sub(1).map(|b| timeline.slot(b, *slot)).unwrap_or_default();
            let now = timeline.slot(at, *slot);
            now.foreign_content() && !before.foreign_content() || now.owner != before.owner
        })
        .map(|(slot, watched)| {
            let now = timeline.slot(at, slot);
            let owner = now.owner.map_or_else(|| "free".to_owned(), |o| format!("owner {o}"));
            let content = now.content_text();
            let holds = if content.is_empty() { String::new() } else { format!(", holds {content}") };
            let flying: Vec<String> = now.in_flight.iter().map(ToString::to_string).collect();
            let flying = if flying.is_empty() { String::new() } else { format!(", in flight {}", flying.join(" ")) };
            format!("{}: {owner}{holds}{flying}", watched.label)
        })
        .collect();
    if !changes.is_empty() && (role.is_some() || at == 0) {
        let changes: Vec<String> = changes.iter().map(|c| Escaped(c).to_string()).collect();
        writeln!(out, "    Note over D: {}", changes.join("<br/>"))?;
    }
    for violation in timeline.violations.iter().filter(|v| v.broke == step.number) {
        let text = format!("{}: {}", violation.kind, violation.headline);
        writeln!(out, "    Note over C,D: {}", Escaped(&text))?;
    }
    if colour.is_some() {
        out.write_str("    end\n")?;
    }
    Ok(())
}

const fn id(lane: Lane) -> &'static str {
    match lane {
        Lane::Client => "C",
        Lane::Prefill => "P",
        Lane::Fabric => "F",
        Lane::Decode => "D",
    }
}

/// Text as Mermaid reads it: `#code;` for what has a meaning, a blank for what ends a line.
struct Escaped<'a>(&'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                c if c.is_control() => f.write_char(' ')?,
                '#' | ';' | '<' | '>' | '"' | '&' | '%' | '`' | '{' | '}' | '\\' => write!(f, "#{};", u32::from(c))?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}
