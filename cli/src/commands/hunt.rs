//! `pagefence hunt`.

use super::save;
use crate::args::{HuntArgs, threads};
use crate::console::Console;
use crate::interrupt;
use crate::outcome::Outcome;
use crate::progress::Spinner;
use crate::view;
use anyhow::Result;
use pagefence::cell::Profile;
use pagefence::explore::{Budget, Explorer, Hunt, HuntOptions, hunt};
use pagefence::library;
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
    print(&found, &profile, &saved, console)?;
    let report = Report {
        command: "hunt",
        profile: &profile,
        scope: &scope.name,
        options: &options,
        budget_ms: args.budget.as_millis(),
        hunt: &found,
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

/// Timelines first, since the table is what should stay on the screen.
fn print(hunt: &Hunt, profile: &Profile, saved: &[PathBuf], console: &mut Console) -> Result<()> {
    for run in &hunt.runs {
        console.line(view::run(run))?;
    }
    if console.is_text() {
        for (at, finding) in hunt.findings.iter().enumerate() {
            console.line("")?;
            console.timeline(&finding.story(profile, saved.get(at).map(PathBuf::as_path)))?;
        }
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
        console.table(&view::findings(&hunt.findings))?;
        for path in saved {
            console.line(format!("saved {}", path.display()))?;
        }
    }
    if interrupt::pressed() {
        console.line("interrupted: what was found until then is above")?;
    }
    Ok(())
}
