//! `pagefence model`: the cell on threads.

use super::save;
use crate::args::{EngineName, ModelArgs, ModelCommand, ModelReplayArgs, ModelRunArgs, threads};
use crate::console::Console;
use crate::interrupt;
use crate::outcome::Outcome;
use crate::races;
use crate::view;
use anyhow::{Result, bail};
use pagefence::cell::Profile;
use pagefence::explore::{Finding, Words};
use pagefence::library;
use pagefence::report::{Summary, Table, render_html, write_whole};
use pagefence_models::finding::{SOURCE, keep, replay};
use pagefence_models::{Ending, Engine, Job, Model, Report, Slice, all, find};
use serde::Serialize;
use std::path::PathBuf;
use std::time::Duration;

pub fn run(args: &ModelArgs, console: &mut Console) -> Result<Outcome> {
    match &args.command {
        ModelCommand::List => list(console),
        ModelCommand::Run(args) => run_models(args, console),
        ModelCommand::Replay(args) => replay_finding(args, console),
        // The worker hears the same Ctrl-C as its parent, ends its job and tells what it has met.
        ModelCommand::Worker => std::process::exit(pagefence_models::isolated::worker(Some(interrupt::flag()))),
    }
}

#[derive(Serialize)]
struct Listed {
    model: &'static str,
    slice: String,
    about: String,
    whole: bool,
    threads: Vec<String>,
}

fn list(console: &mut Console) -> Result<Outcome> {
    let mut listed = Vec::new();
    for model in all() {
        let mut table = Table::new(format!("{}: {}", model.name, model.about), ["slice", "threads", "what races"]);
        for (slice, whole) in
            model.slices.iter().map(|slice| (slice, false)).chain(model.wholes.iter().map(|slice| (slice, true)))
        {
            let threads: Vec<String> = slice.shifts.iter().map(|shift| shift.actor.to_string()).collect();
            let who = if whole { format!("all {}", threads.len()) } else { threads.join(", ") };
            table.push([slice.name.clone(), who, slice.about.clone()]);
            let (name, about) = (slice.name.clone(), slice.about.clone());
            listed.push(Listed { model: model.name, slice: name, about, whole, threads });
        }
        console.table(&table)?;
        console.line("")?;
    }
    console.json(&listed)?;
    Ok(Outcome::AsDeclared)
}

/// What a run came to.
#[derive(Serialize)]
struct Run<'a> {
    command: &'static str,
    profile: &'a Profile,
    seed: u64,
    source: &'static str,
    reports: &'a [Report],
    findings: &'a [Finding],
    saved: &'a [PathBuf],
}

fn run_models(args: &ModelRunArgs, console: &mut Console) -> Result<Outcome> {
    let profile = library::profile(&args.profile.profile, &args.profile.settings)?;
    let jobs = jobs(args, &profile)?;
    let parallel = threads(args.jobs);
    console.line(format!(
        "model run: seed {}, profile {}, {} runs, budget {:?} each, jobs {parallel}, source {SOURCE}",
        args.seed,
        profile.name,
        jobs.len(),
        args.budget,
    ))?;
    let reports = races::race(&jobs, parallel)?;
    let findings = findings(&reports)?;
    let saved = match &args.out {
        Some(folder) => findings.iter().map(|finding| save(folder, finding)).collect::<Result<Vec<_>>>()?,
        None => Vec::new(),
    };
    print(&reports, &findings, &saved, console)?;
    let run = Run {
        command: "model run",
        profile: &profile,
        seed: args.seed,
        source: SOURCE,
        reports: &reports,
        findings: &findings,
        saved: &saved,
    };
    console.json(&run)?;
    let failed = reports.iter().any(|report| matches!(report.ending, Ending::Failed(_)));
    Ok(Outcome::found(failed || !findings.is_empty()))
}

/// Slices under loom and shuttle, whole cells under shuttle, as far as they are asked for.
fn jobs(args: &ModelRunArgs, profile: &Profile) -> Result<Vec<Job>> {
    let models: Vec<&Model> = if args.models.is_empty() {
        all().iter().collect()
    } else {
        args.models.iter().map(|name| model(name)).collect::<Result<_>>()?
    };
    let loom = Engine::Loom { preemptions: (!args.unbounded).then_some(args.preemptions) };
    let engines = match args.engine {
        EngineName::All => vec![loom, Engine::Shuttle],
        EngineName::Loom => vec![loom],
        EngineName::Shuttle => vec![Engine::Shuttle],
        EngineName::Dfs => vec![Engine::Dfs],
    };
    let mut jobs = Vec::new();
    for model in models {
        let slices = model.slices.iter().flat_map(|slice| engines.iter().map(move |engine| (slice, *engine)));
        let whole = engines.contains(&Engine::Shuttle).then_some(&model.wholes);
        let wholes = whole.into_iter().flatten().map(|whole| (whole, Engine::Shuttle));
        let wanted = |slice: &Slice| args.slices.is_empty() || args.slices.contains(&slice.name);
        jobs.extend(slices.chain(wholes).filter(|(slice, _)| wanted(slice)).map(|(slice, engine)| Job {
            model: model.name.to_owned(),
            slice: slice.name.clone(),
            profile: profile.clone(),
            engine,
            seed: args.seed,
            executions: args.iterations.unwrap_or(u64::MAX),
            milliseconds: Some(args.budget.as_millis() as u64),
            until: None,
        }));
    }
    if jobs.is_empty() {
        bail!("no slice is called so; see `pagefence model list`");
    }
    Ok(jobs)
}

fn model(name: &str) -> Result<&'static Model> {
    let Some(model) = find(name) else {
        let known: Vec<&str> = all().iter().map(|model| model.name).collect();
        bail!("there is no model `{name}`; there are {}", known.join(", "));
    };
    Ok(model)
}

/// Each signature once, from the model that showed it first.
fn findings(reports: &[Report]) -> Result<Vec<Finding>> {
    let mut findings: Vec<Finding> = Vec::new();
    for report in reports {
        for met in &report.met {
            if findings.iter().all(|known| known.signature != met.signature) {
                findings.push(keep(&report.job, report.job.slice()?, met));
            }
        }
    }
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.violation.kind.severity()));
    Ok(findings)
}

fn print(reports: &[Report], findings: &[Finding], saved: &[PathBuf], console: &mut Console) -> Result<()> {
    let mut table = Table::new("runs", ["model", "slice", "engine", "executions", "per second", "ended", "signatures"]);
    for report in reports {
        let Report { job, ending, executions, schedules, milliseconds, met } = report;
        let rate = *executions as f64 / Duration::from_millis((*milliseconds).max(1)).as_secs_f64();
        let of = schedules.map_or_else(String::new, |about| format!(" of about {about:.1e}"));
        table.push([
            job.model.clone(),
            job.slice.clone(),
            job.engine.to_string(),
            format!("{executions}{of}"),
            format!("{rate:.0}"),
            view::ending(ending),
            met.len().to_string(),
        ]);
    }
    console.table(&table)?;
    if findings.is_empty() {
        console.line("nothing found. What is exhausted holds up to its bound; what is truncated is no proof.")?;
        return Ok(());
    }
    console.line("")?;
    let shown = if console.is_text() { SHOWN } else { 0 };
    for (at, finding) in findings.iter().enumerate().take(shown) {
        let replayed = replay(finding, finding.profile.switches)?;
        let mut timeline = replayed.timeline;
        timeline.reproduce = saved.get(at).map(|path| format!("pagefence model replay {}", path.display()));
        // Drawn for the worst ones only: a run of an old version meets dozens.
        console.timeline(&timeline)?;
        console.line("")?;
    }
    console.table(&view::findings(findings))?;
    for path in saved {
        console.line(format!("saved {}", path.display()))?;
    }
    Ok(())
}

/// How many timelines a run draws.
const SHOWN: usize = 3;

/// What a replay came to.
#[derive(Serialize)]
struct Replay<'a> {
    command: &'static str,
    file: String,
    profile: &'a Profile,
    signature: &'a Words,
    reproduced: bool,
    others: &'a [Words],
    diverges: Option<usize>,
}

pub(super) fn replay_finding(args: &ModelReplayArgs, console: &mut Console) -> Result<Outcome> {
    let finding = Finding::load(&args.file)?;
    let mut profile = finding.profile.clone();
    for setting in &args.settings {
        profile = profile.set(setting)?;
    }
    let file = args.file.display().to_string();
    let replayed = match replay(&finding, profile.switches) {
        Ok(replayed) => replayed,
        Err(error) => bail!("{file}: {error}"),
    };
    let own = profile == finding.profile;
    if own && let (None, Some(at)) = (&replayed.same, replayed.diverges) {
        // The same switches and another course: it is the program that has changed.
        bail!("{file}: the schedule does not fit this version: it leaves it at entry {at}");
    }
    console.line(format!("model replay: profile {}, {} entries", profile.name, entries(&finding)))?;
    console.timeline(&replayed.timeline)?;
    let reproduced = replayed.same.is_some();
    console.line(if reproduced { "reproduced".to_owned() } else { format!("{} is gone", finding.signature) })?;
    for other in replayed.others.iter().filter(|_| !reproduced) {
        console.line(format!("instead: {other}"))?;
    }
    if let Some(path) = &args.html {
        let rows = vec![("file".into(), file.clone()), ("profile".into(), profile.name.clone())];
        let summary = Summary { title: format!("pagefence: {}", finding.signature), rows, tables: Vec::new() };
        write_whole(path, render_html(std::slice::from_ref(&replayed.timeline), &summary))?;
        console.line(format!("written to {}", path.display()))?;
    }
    console.json(&Replay {
        command: "model replay",
        file,
        profile: &profile,
        signature: &finding.signature,
        reproduced,
        others: &replayed.others,
        diverges: replayed.diverges,
    })?;
    Ok(Outcome::found(reproduced || !replayed.others.is_empty()))
}

fn entries(finding: &Finding) -> usize {
    finding.threads.as_ref().map_or(0, |threads| threads.schedule.len())
}
