//! An audit as plain lines.

use super::audit::{AuditReport, Finding, Held};
use crate::lifetime::{Arena, Life, Spans, Violation};
use crate::number::count;
use std::fmt::{self, Display, Formatter};

impl Display for AuditReport {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { file, format, lines, events, requests, answers, .. } = self;
        let (lines, events, requests) = (count(*lines, "line"), count(*events, "event"), count(*requests, "request"));
        writeln!(f, "{file}: {format}, {lines}, {events}, {requests}")?;
        writeln!(
            f,
            "  answered: {} success, {} rejected, {} aborted, {} failed",
            answers.success, answers.rejected, answers.aborted, answers.failed
        )?;
        // A slot that stays wrong is found wrong at every step; one line says so.
        for same in self.findings.chunk_by(is_repeated) {
            write!(f, "  {}", same[0])?;
            match same {
                [_, .., last] => {
                    let times = count(same.len() as u64 - 1, "time");
                    writeln!(f, "; {times} more, up to line {}", last.violation.broke.0)?;
                }
                _ => writeln!(f)?,
            }
        }
        let stored = self.findings.len() as u64;
        if stored < self.violations {
            writeln!(f, "  … and {} that are not listed", count(self.violations - stored, "violation"))?;
        }
        for held in &self.held {
            writeln!(f, "  {held}")?;
        }
        for error in &self.first_skipped {
            writeln!(f, "  skipped: {error}")?;
        }
        if self.skipped > self.first_skipped.len() as u64 {
            writeln!(f, "  … {} skipped in all", count(self.skipped, "line"))?;
        }
        if self.is_clean() {
            return writeln!(f, "  no violation");
        }
        write!(f, "  {}:", count(self.violations, "violation"))?;
        for (index, (kind, count)) in self.by_kind.iter().enumerate() {
            write!(f, "{} {count} {kind}", if index == 0 { "" } else { "," })?;
        }
        writeln!(f)
    }
}

/// Whether a finding is the one before it again, in a later line and perhaps on more slots.
pub(super) fn is_repeated(earlier: &Finding, later: &Finding) -> bool {
    let key = |finding: &Finding| {
        let Violation { kind, place, life, other, op, started, .. } = finding.violation;
        (kind, place, life, other, op, started)
    };
    key(earlier) == key(later) && earlier.violation.broke < later.violation.broke
}

impl Display for Finding {
    /// `line 417: write-after-free: A on decode pages 7-10, 16 cells, owned by C (posted in line 50, …)`
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let violation = &self.violation;
        write!(f, "line {}: {}: {}", violation.broke.0, violation.kind, who(self.request.as_deref(), violation.life))?;
        if let Some(place) = violation.place {
            let node = self.node.as_deref().unwrap_or_default();
            write!(f, " on {node} {}", slots(place.arena, &violation.slots))?;
        }
        if violation.cells > 0 {
            write!(f, ", {}", count(violation.cells.into(), "cell"))?;
        }
        if let Some(other) = violation.other {
            write!(f, ", against {}", who(self.other.as_deref(), other))?;
        }
        if let Some(started) = violation.started {
            write!(f, ", started in line {}", started.0)?;
        }
        if let Some(released) = violation.released {
            write!(f, ", released in line {}", released.0)?;
        }
        Ok(())
    }
}

impl Display for Held {
    /// `held, not leaked: long on decode pages 17-66 (50)`
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let request = who(self.request.as_deref(), self.life);
        let Self { node, place, count, .. } = self;
        write!(f, "held, not leaked: {request} on {node} {} ({count})", slots(place.arena, &self.slots))
    }
}

/// The engine's name where it is known.
pub(super) fn who(name: Option<&str>, life: Life) -> String {
    match name {
        Some(name) if life.generation == 0 => name.to_owned(),
        Some(name) => format!("{name}#{}", life.generation),
        None => life.to_string(),
    }
}

/// `page 7`, `pages 7-10, 12`; a long list is cut.
fn slots(arena: Arena, runs: &Spans) -> String {
    const SHOWN: usize = 8;
    let single = matches!(runs.as_slice(), [run] if run.len == 1);
    let mut text = format!("{arena}{} ", if single { "" } else { "s" });
    for (index, run) in runs.iter().take(SHOWN).enumerate() {
        if index > 0 {
            text.push_str(", ");
        }
        text.push_str(&run.start.to_string());
        if run.len > 1 {
            text.push('-');
            text.push_str(&(run.end() - 1).to_string());
        }
    }
    if runs.len() > SHOWN {
        text.push_str(", …");
    }
    text
}
