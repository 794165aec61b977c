//! `pagefence hunt`.

use super::save;
use crate::args::{HuntArgs, threads};
use crate::console::Console;
use crate::interrupt;
use crate::outcome::Outcome;
use crate::page;
use crate::progress::Spinner;
use crate::view::{self, Known};
use anyhow::Result;
use pagefence::cases::Suite;
use pagefence::cell::Profile;
use pagefence::explore::{Budget, Explorer, Finding, Hunt, HuntOptions, hunt};
use pagefence::library;
use pagefence::report::{Table, Timeline, count};
use serde::Serialize;
use std::path::PathBuf;

/// The whole result.
#[derive(Serialize)]
struct Report<'a> {
    command: &'static str,
    profile: &'a Profile,
    scope: &'a str,
    options: &'a HuntOptions,
    budget_ms: u128,
    #[serde(flatten)]
    hunt: &'a Hunt,
    /// The case that explains each finding, in their order.
    known: &'a [Option<Known>],
    saved: &'a [PathBuf],
}

pub fn run(args: &HuntArgs, console: &mut Console) -> Result<Outcome> {
    let stop = interrupt::flag();
    let profile = library::profile(&args.profile.profile, &args.profile.settings)?;
    let scope = library::scope(&args.scope)?;
    let options = options(args);
    let names: Vec<&str> = options.explorers.iter().map(|explorer| explorer.name()).collect();
    console.line(format!(
        "hunt: seed {}, profile {}, scope {}, budget {:?}, jobs {}, explorers {}, stop at {:?}",
        options.seed,
        profile.name,
        scope.name,
        args.budget,
        options.jobs,
        names.join(","),
        options.stop_at,
    ))?;

    let found = {
        let spinner = Spinner::new("hunting");
        let budget = Budget {
            time: Some(args.budget),
            memory: Some(args.memory << 20),
            stop: Some(stop),
            progress: Some(&|progress| spinner.tell(progress)),
            ..Budget::default()
        };
        hunt(&profile, &scope, &options, &budget)
    };
    let saved = match &args.out {
        Some(folder) => found.findings.iter().map(|finding| save(folder, finding)).collect::<Result<Vec<_>>>()?,
        None => Vec::new(),
    };
    let told = console.is_text() || args.html.is_some();
    let known = view::known(&Suite::shipped(), &found.findings);
    let timelines = if told { timelines(&found, &known, &profile, &saved) } else { Vec::new() };
    let table = view::explained(&found.findings, &known);
    print(&found, &table, &timelines, &saved, console)?;
    if let Some(path) = &args.html {
        let rows = facts(&found, args, &profile.name, &scope.name);
        let title = format!("pagefence hunt: {}", count(found.findings.len() as u64, "finding"));
        let tables = if found.findings.is_empty() { Vec::new() } else { vec![table] };
        page::write(path, title, rows, tables, &timelines, console)?;
    }
    let report = Report {
        command: "hunt",
        profile: &profile,
        scope: &scope.name,
        options: &options,
        budget_ms: args.budget.as_millis(),
        hunt: &found,
        known: &known,
        saved: &saved,
    };
    console.json(&report)?;
    Ok(Outcome::found(!found.findings.is_empty() || found.livelocks() > 0))
}

/// How to hunt: an explorer that is named twice hunts once.
fn options(args: &HuntArgs) -> HuntOptions {
    let mut explorers: Vec<Explorer> = Vec::new();
    for explorer in args.explorers.iter().copied().map(Explorer::from) {
        if !explorers.contains(&explorer) {
            explorers.push(explorer);
        }
    }
    let (jobs, stop_at) = (threads(args.jobs), args.stop_at.into());
    HuntOptions { seed: args.seed, jobs, explorers, stop_at, minimise: true }
}

/// The timeline of each finding.
fn timelines(hunt: &Hunt, known: &[Option<Known>], profile: &Profile, saved: &[PathBuf]) -> Vec<Timeline> {
    let tell = |(at, (finding, known)): (usize, (&Finding, &Option<Known>))| {
        let mut timeline = finding.story(profile, saved.get(at).map(PathBuf::as_path));
        timeline.subtitle.push(format!("known: {}", Known::text(known.as_ref())));
        timeline
    };
    hunt.findings.iter().zip(known).enumerate().map(tell).collect()
}

/// What the page says above the findings.
fn facts(hunt: &Hunt, args: &HuntArgs, profile: &str, scope: &str) -> Vec<(String, String)> {
    let mut rows = vec![
        ("profile".to_owned(), profile.to_owned()),
        ("scope".to_owned(), scope.to_owned()),
        ("seed".to_owned(), args.seed.to_string()),
    ];
    rows.extend(hunt.runs.iter().map(|run| ("explorer".to_owned(), view::run(run))));
    rows
}

/// Timelines first, since the table is what should stay on the screen.
fn print(hunt: &Hunt, table: &Table, timelines: &[Timeline], saved: &[PathBuf], console: &mut Console) -> Result<()> {
    for run in &hunt.runs {
        console.line(view::run(run))?;
    }
    for timeline in timelines {
        console.line("")?;
        console.timeline(timeline)?;
    }
    console.line("")?;
    if hunt.findings.is_empty() {
        let proof = if hunt.closed() {
            "nothing found, and nothing was left to look at"
        } else {
            "nothing found; that is no proof"
        };
        console.line(proof)?;
    } else {
        console.table(table)?;
        for path in saved {
            console.line(format!("saved {}", path.display()))?;
        }
    }
    if interrupt::pressed() {
        console.line("interrupted: what was found until then is above")?;
    }
    Ok(())
}
