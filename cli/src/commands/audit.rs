//! `pagefence audit`.

use crate::args::AuditArgs;
use crate::console::Console;
use crate::outcome::Outcome;
use crate::page;
use crate::view::{count, grouped, tone};
use anyhow::{Context as _, Result, bail};
use pagefence::report::{Cell, Table, Tone};
use pagefence::trace::{AuditOptions, AuditReport, audit};
use serde::Serialize;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

/// The whole result.
#[derive(Serialize)]
struct Report<'a> {
    command: &'static str,
    lenient: bool,
    clean: bool,
    traces: &'a [AuditReport],
}

/// Bytes that are read at once.
const BUFFER: usize = 1 << 18;

pub fn run(args: &AuditArgs, console: &mut Console) -> Result<Outcome> {
    let options = AuditOptions { lenient: args.lenient, ..AuditOptions::default() };
    let mut reports = Vec::new();
    for path in &args.files {
        let report = audit(path.display().to_string(), BufReader::with_capacity(BUFFER, open(path)?), &options)?;
        console.line(report.to_string().trim_end())?;
        reports.push(report);
    }
    if let Some(path) = &args.html {
        let violations: u64 = reports.iter().map(|report| report.violations).sum();
        let title = format!("pagefence audit: {}", count(violations, "violation"));
        page::write(path, title, Vec::new(), tables(&reports), &[], console)?;
    }
    let clean = reports.iter().all(AuditReport::is_clean);
    console.json(&Report { command: "audit", lenient: args.lenient, clean, traces: &reports })?;
    Ok(Outcome::found(!clean))
}

/// Opens a trace. It is streamed, so it may be of any size, and it may be a pipe.
fn open(path: &Path) -> Result<File> {
    let file = File::open(path).with_context(|| path.display().to_string())?;
    if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        bail!("{}: is a directory, not a trace", path.display());
    }
    Ok(file)
}

/// What each trace came to, and what was found in it.
fn tables(reports: &[AuditReport]) -> Vec<Table> {
    let mut traces = Table::new("traces", ["trace", "verdict", "events", "requests", "skipped lines", "held slots"]);
    let mut found = Table::new("violations", ["trace", "kind", "what"]);
    for report in reports {
        let verdict = match report.violations {
            0 => Cell::new("clean", Tone::Good),
            n => Cell::new(count(n, "violation"), Tone::Bad),
        };
        traces.push([
            report.file.as_str().into(),
            verdict,
            grouped(report.events).into(),
            grouped(report.requests).into(),
            grouped(report.skipped).into(),
            grouped(report.held_slots).into(),
        ]);
        for finding in &report.findings {
            let kind = finding.violation.kind;
            found.push([
                report.file.as_str().into(),
                Cell::new(kind.name(), tone(kind.severity())),
                finding.to_string().into(),
            ]);
        }
    }
    if found.rows.is_empty() { vec![traces] } else { vec![traces, found] }
}
