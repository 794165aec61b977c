//! `pagefence audit`.

use crate::args::AuditArgs;
use crate::console::Console;
use crate::outcome::Outcome;
use crate::page;
use crate::view::tone;
use anyhow::{Context as _, Result, bail};
use flate2::bufread::MultiGzDecoder;
use pagefence::report::{Cell, Table, Timeline, Tone, count, grouped};
use pagefence::trace::{AuditOptions, AuditReport, audit, stories};
use serde::Serialize;
use std::fs::File;
use std::io::{BufRead, BufReader};
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
/// Timelines of one trace; the list of violations is longer.
const TIMELINES: usize = 16;

pub fn run(args: &AuditArgs, console: &mut Console) -> Result<Outcome> {
    let options = AuditOptions { lenient: args.lenient, ..AuditOptions::default() };
    let (mut reports, mut timelines) = (Vec::new(), Vec::new());
    for path in &args.files {
        let report = audit(path.display().to_string(), read(path, open(path)?)?, &options)?;
        if console.is_text() || args.html.is_some() {
            let told = told(path, &report, args.lenient, console)?;
            for timeline in &told {
                console.timeline(timeline)?;
                console.line("")?;
            }
            timelines.extend(told);
        }
        console.line(report.to_string().trim_end())?;
        reports.push(report);
    }
    if let Some(path) = &args.html {
        let violations: u64 = reports.iter().map(|report| report.violations).sum();
        let title = format!("pagefence audit: {}", count(violations, "violation"));
        page::write(path, title, Vec::new(), tables(&reports), &timelines, console)?;
    }
    let clean = reports.iter().all(AuditReport::is_clean);
    console.json(&Report { command: "audit", lenient: args.lenient, clean, traces: &reports })?;
    Ok(Outcome::found(!clean))
}

/// The timelines of what was found in a trace. It is read a second time for them, which a pipe can't be.
fn told(path: &Path, report: &AuditReport, lenient: bool, console: &mut Console) -> Result<Vec<Timeline>> {
    if report.is_clean() {
        return Ok(Vec::new());
    }
    let file = open(path)?;
    if !file.metadata()?.is_file() {
        console.note(format!("{}: no timelines, since a pipe can't be read twice", path.display()));
        return Ok(Vec::new());
    }
    Ok(stories(read(path, file)?, lenient, report, TIMELINES)?)
}

/// The text of a trace; of one that is gzipped, whatever its name, what it was made of.
fn read(path: &Path, file: File) -> Result<Box<dyn BufRead>> {
    const GZIP: [u8; 2] = [0x1f, 0x8b];
    let mut raw = BufReader::with_capacity(BUFFER, file);
    if !raw.fill_buf().with_context(|| path.display().to_string())?.starts_with(&GZIP) {
        return Ok(Box::new(raw));
    }
    Ok(Box::new(BufReader::with_capacity(BUFFER, MultiGzDecoder::new(raw))))
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
