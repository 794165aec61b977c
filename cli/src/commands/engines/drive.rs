//! `pagefence drive`.

use super::{record, start, violations, write_trace};
use crate::args::DriveArgs;
use crate::console::Console;
use crate::outcome::Outcome;
use crate::page;
use crate::scripted::Scripted;
use anyhow::Result;
use pagefence::explore::Words;
use pagefence::report::{count, headline};
use pagefence::trace::{AuditOptions, AuditReport, audit, stories};
use pagefence_drive::home::Home;
use pagefence_drive::lockstep::Told;
use serde::Serialize;

/// The whole result.
#[derive(Serialize)]
struct Report<'a> {
    command: &'static str,
    engine: String,
    script: &'a str,
    scope: &'a str,
    /// Each signature once, with the move that showed it.
    violations: Vec<(usize, Words)>,
    /// Slots that were read and held something else than their reader had to find there: looked at, not inferred.
    stale_slots: u64,
    /// What has no counterpart on an engine.
    not_expressible: Option<&'a str>,
    /// The first move in which the model does something else.
    first_difference: Option<usize>,
    audit: &'a AuditReport,
}

/// Timelines that are drawn; the list of violations is longer.
const TIMELINES: usize = 4;

pub fn run(args: &DriveArgs, console: &mut Console) -> Result<Outcome> {
    let scripted = Scripted::load(&args.script)?;
    let home = Home::of_user()?;
    let release = home.find(&args.engine)?;
    let mut hosts = start(&home, &release, &scripted, console)?;
    console.line(format!("drive: {}, {}, scope {}", release.name(), scripted.name, scripted.scope.name))?;
    let mut number = 0;
    let mut printed = Ok(());
    let (trial, recording) = record(&scripted, &release, &mut hosts, |told| {
        number += 1;
        if printed.is_ok() {
            printed = show(number, told, console);
        }
    })?;
    printed?;
    if let Some(path) = &args.trace {
        write_trace(path, &recording)?;
        console.line(format!("written to {}", path.display()))?;
    }
    let name = format!("{} {}", release.name(), scripted.name);
    let report = audit(name.as_str(), recording.text().as_bytes(), &AuditOptions::default())?;
    let timelines = stories(recording.text().as_bytes(), false, &report, TIMELINES)?;
    if let Some(timeline) = timelines.first() {
        console.line("")?;
        console.timeline(timeline)?;
        console.line("")?;
    }
    if let Some(path) = &args.html {
        let title = format!("pagefence: {name}");
        page::write(path, title, Vec::new(), Vec::new(), &timelines, console)?;
    }
    console.line(verdict(&trial))?;
    let found: Vec<_> =
        trial.violations().filter_map(|(at, violation)| Some((at + 1, Words::of(violation)?))).collect();
    let broken = !violations(&trial).is_empty() || trial.stale() > 0;
    let expressible = trial.inexpressible.is_none();
    console.json(&Report {
        command: "drive",
        engine: release.name(),
        script: &scripted.name,
        scope: &scripted.scope.name,
        violations: found,
        stale_slots: trial.stale(),
        not_expressible: trial.inexpressible.as_deref(),
        first_difference: trial.first_difference().map(|at| at + 1),
        audit: &report,
    })?;
    Ok(if broken || expressible { Outcome::found(broken) } else { Outcome::BadInput })
}

/// A move as it happens: what the engine did, and what that violates.
fn show(number: usize, told: &Told, console: &mut Console) -> Result<()> {
    let step = told.at.to_string();
    let words = &told.heard.engine;
    console.line(format!("{number:>4}  {step:<28} {}", words.first().map_or("", String::as_str)).trim_end())?;
    for more in words.iter().skip(1) {
        console.line(format!("{:34} {more}", ""))?;
    }
    if told.stale > 0 {
        console.line(format!("{:34} STALE: {} held what was not written for it", "", count(told.stale, "slot")))?;
    }
    for violation in &told.violations {
        console.line(format!("{:34} VIOLATION: {}", "", headline(violation)))?;
    }
    Ok(())
}

fn verdict(trial: &pagefence_drive::lockstep::Trial) -> String {
    let mut said = Vec::new();
    let kinds: Vec<Words> = trial.violations().filter_map(|(_, violation)| Words::of(violation)).collect();
    match kinds.len() {
        0 => said.push("no violation".to_owned()),
        n => said.push(count(n as u64, "violation")),
    }
    if trial.stale() > 0 {
        said.push(format!(
            "{} read while they held what was not written for their reader",
            count(trial.stale(), "slot")
        ));
    }
    if let Some(at) = trial.first_difference() {
        said.push(format!("the model goes another way from move {} on", at + 1));
    }
    if let Some(what) = &trial.inexpressible {
        said.push(format!("stopped before `{what}`, which has no counterpart on an engine"));
    }
    said.join("; ")
}
