//! `pagefence check`.

use super::save;
use crate::args::{CheckArgs, threads};
use crate::console::Console;
use crate::interrupt;
use crate::matrix;
use crate::outcome::Outcome;
use crate::progress::Spinner;
use crate::view;
use anyhow::Result;
use pagefence::cases::{Row, Suite, Verdict};
use pagefence::cell::{Profile, Scope};
use pagefence::explore::{Budget, Explorer, HuntOptions, Survey, canary, survey};
use pagefence::library;
use pagefence::lifetime::Severity;
use serde::Serialize;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The whole result.
#[derive(Serialize)]
struct Report<'a> {
    command: &'static str,
    seed: u64,
    jobs: usize,
    budget_ms: u128,
    as_declared: bool,
    seconds: f64,
    cases: &'a [Row],
    survey: &'a Survey,
    saved: &'a [PathBuf],
}

/// How long the hunt after the cases takes where nobody says.
const BUDGET: Duration = Duration::from_secs(30);

pub fn run(args: &CheckArgs, console: &mut Console) -> Result<Outcome> {
    let stop = interrupt::flag();
    let began = Instant::now();
    let (seed, jobs) = (args.seed.unwrap_or_default(), threads(args.jobs));
    let time = args.budget.unwrap_or(BUDGET);
    console.line(format!("check: seed {seed}, hunt {time:?}, jobs {jobs}"))?;
    // An explorer that misses a fault that was planted proves nothing about the others.
    if let Err(missed) = canary(jobs) {
        console.note(missed.to_string());
        return Ok(Outcome::Found);
    }
    console.line("canary: every explorer finds every planted fault")?;

    let suite = Suite::shipped();
    let rows = matrix::run(&suite, |_| true, seed, jobs)?;
    print_cases(&rows, console)?;

    let pairs = pairs();
    let options = HuntOptions {
        seed,
        jobs,
        explorers: vec![Explorer::Exhaustive, Explorer::Swarm],
        stop_at: Severity::Corruption,
        minimise: true,
    };
    let survey = {
        let spinner = Spinner::new("hunting");
        let budget = Budget {
            // The cases always run in full; the budget is the hunt's.
            time: Some(time),
            memory: Some(1 << 30),
            stop: Some(stop),
            progress: Some(&|progress| spinner.tell(progress)),
            ..Budget::default()
        };
        let at = |profile: &Profile, scope: &Scope| spinner.at(format!("hunting {} in {}", profile.name, scope.name));
        survey(&pairs, &options, &budget, |profile, words| suite.declares(profile, words).is_some(), at)
    };
    let saved = match &args.out {
        Some(folder) => survey.news.iter().map(|news| save(folder, &news.finding)).collect::<Result<Vec<_>>>()?,
        None => Vec::new(),
    };
    print(&survey, &saved, console)?;
    let as_declared =
        matrix::as_declared(&rows) && survey.news.is_empty() && survey.livelocks == 0 && !interrupt::pressed();
    console.json(&Report {
        command: "check",
        seed,
        jobs,
        budget_ms: time.as_millis(),
        as_declared,
        seconds: began.elapsed().as_secs_f64(),
        cases: &rows,
        survey: &survey,
        saved: &saved,
    })?;
    Ok(Outcome::found(!as_declared))
}

/// Every version in every scope; the reference design is for `prove`.
fn pairs() -> Vec<(Profile, Scope)> {
    let scopes: Vec<Scope> = library::scopes().collect();
    let versions = Profile::presets().map(|(profile, _)| profile).filter(|profile| profile.name != "reference");
    versions.flat_map(|profile| scopes.iter().map(move |scope| (profile.clone(), scope.clone()))).collect()
}

/// The table, and the timeline of what should not have been found.
fn print_cases(rows: &[Row], console: &mut Console) -> Result<()> {
    let unexpected = rows.iter().filter(|row| row.verdict == Verdict::Unexpected);
    if console.is_text() {
        for finding in unexpected.filter_map(|row| row.finding.as_deref()) {
            let small = finding.minimise();
            let small = small.as_ref().unwrap_or(finding);
            console.line("")?;
            console.timeline(&small.story(&small.profile, None))?;
        }
    }
    console.line("")?;
    matrix::print(rows, console)
}

fn print(survey: &Survey, saved: &[PathBuf], console: &mut Console) -> Result<()> {
    if console.is_text() {
        for (at, news) in survey.news.iter().enumerate() {
            console.line("")?;
            console.timeline(&news.finding.story(&news.finding.profile, saved.get(at).map(PathBuf::as_path)))?;
            let met: Vec<String> = news.met.iter().map(|(profile, scope)| format!("{profile} in {scope}")).collect();
            console.line(format!("met on {}", met.join(", ")))?;
        }
    }
    console.line("")?;
    if !survey.news.is_empty() {
        console.table(&view::findings(&survey.news.iter().map(|news| news.finding.clone()).collect::<Vec<_>>()))?;
    }
    for path in saved {
        console.line(format!("saved {}", path.display()))?;
    }
    let Survey { hunted, closed, skipped, known, livelocks, news } = survey;
    console.line(format!(
        "hunt: {hunted} pairs of profile and scope ({closed} searched to their end, {skipped} not reached), \
         {known} known findings, {} new",
        news.len()
    ))?;
    if *skipped > 0 {
        console.line("the time was up before everything was hunted: give more with --budget")?;
    }
    if *livelocks > 0 {
        console.line(format!("{} NEVER CAME TO REST", view::count(*livelocks, "walk")))?;
    }
    if interrupt::pressed() {
        console.line("interrupted: what was found until then is above")?;
    }
    Ok(())
}
