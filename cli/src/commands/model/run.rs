//! `pagefence model run`.

use crate::args::{EngineName, ModelRunArgs, threads};
use crate::commands::save;
use crate::console::Console;
use crate::interrupt;
use crate::outcome::Outcome;
use crate::races;
use crate::view::{self, Known};
use anyhow::{Result, bail};
use pagefence::cases::Suite;
use pagefence::cell::Profile;
use pagefence::explore::Finding;
use pagefence::library;
use pagefence::report::{Table, count};
use pagefence_models::engine::shuttle::Strategy;
use pagefence_models::finding::{SOURCE, as_met, keep, replay};
use pagefence_models::{Ending, Engine, Job, Model, Report, Slice, all, find};
use serde::Serialize;
use std::path::PathBuf;
use std::time::Duration;

/// What a run came to.
#[derive(Serialize)]
struct Run<'a> {
    command: &'static str,
    profile: &'a Profile,
    seed: u64,
    source: &'static str,
    reports: &'a [Report],
    findings: &'a [Finding],
    /// The case that explains each finding, in their order.
    known: &'a [Option<Known>],
    saved: &'a [PathBuf],
}

pub(super) fn run(args: &ModelRunArgs, console: &mut Console) -> Result<Outcome> {
    let profile = library::profile(&args.profile.profile, &args.profile.settings)?;
    let jobs = jobs(args, &profile)?;
    let parallel = threads(args.jobs);
    // From the first line on, Ctrl-C ends this cleanly.
    interrupt::flag();
    console.line(format!(
        "model run: seed {}, profile {}, {} runs, budget {:?} each, jobs {parallel}, source {SOURCE}",
        args.seed,
        profile.name,
        jobs.len(),
        args.budget,
    ))?;
    let reports = races::race(&jobs, parallel)?;
    let (findings, known) = findings(&reports)?;
    let saved = match &args.out {
        Some(folder) => findings.iter().map(|finding| save(folder, finding)).collect::<Result<Vec<_>>>()?,
        None => Vec::new(),
    };
    print(&reports, &findings, &known, &saved, console)?;
    if interrupt::pressed() {
        let left = count((jobs.len() - reports.len()) as u64, "run");
        console.line(format!("interrupted: what was met until then is above; {left} not begun"))?;
    }
    let run = Run {
        command: "model run",
        profile: &profile,
        seed: args.seed,
        source: SOURCE,
        reports: &reports,
        findings: &findings,
        known: &known,
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
        EngineName::Pct3 => vec![Engine::Only(Strategy::Pct(3))],
        EngineName::Pct5 => vec![Engine::Only(Strategy::Pct(5))],
        EngineName::Urw => vec![Engine::Only(Strategy::Uniform)],
        EngineName::Random => vec![Engine::Only(Strategy::Random)],
        EngineName::Dfs => vec![Engine::Dfs],
    };
    let mut jobs = Vec::new();
    for model in models {
        let slices = model.slices.iter().flat_map(|slice| engines.iter().map(move |engine| (slice, *engine)));
        // A whole cell has too many threads and schedules for the others.
        let random = engines.iter().find(|engine| matches!(engine, Engine::Shuttle | Engine::Only(_)));
        let wholes = model.wholes.iter().filter_map(|whole| Some((whole, *random?)));
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

/// Each signature that a case declares once, from the model that showed it first, with the case. What another case declares
/// elsewhere is another finding, and so is what none does in each place: a request is stuck in the same words for many reasons.
fn findings(reports: &[Report]) -> Result<(Vec<Finding>, Vec<Option<Known>>)> {
    let suite = Suite::shipped();
    let mut findings: Vec<(Finding, Option<Known>)> = Vec::new();
    for report in reports {
        let slice = report.job.slice()?;
        for met in &report.met {
            let finding = as_met(&report.job, slice, met);
            let known = Known::of(&suite, &finding);
            let is_told = known.as_ref().is_some_and(|known| known.declared);
            let same = |(other, case): &(Finding, Option<Known>)| {
                other.signature == met.signature && *case == known && (is_told || other.place() == finding.place())
            };
            if !findings.iter().any(same) {
                findings.push((keep(&report.job, slice, met), known));
            }
        }
    }
    findings.sort_by_key(|(finding, _)| std::cmp::Reverse(finding.violation.kind.severity()));
    Ok(findings.into_iter().unzip())
}

fn print(
    reports: &[Report],
    findings: &[Finding],
    known: &[Option<Known>],
    saved: &[PathBuf],
    console: &mut Console,
) -> Result<()> {
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
    console.table(&view::explained(findings, known))?;
    for path in saved {
        console.line(format!("saved {}", path.display()))?;
    }
    Ok(())
}

/// How many timelines a run draws.
const SHOWN: usize = 3;
