//! `pagefence check`.

use super::save;
use crate::args::{CheckArgs, threads};
use crate::console::Console;
use crate::interrupt;
use crate::matrix;
use crate::outcome::Outcome;
use crate::page;
use crate::progress::Spinner;
use crate::view;
use anyhow::Result;
use pagefence::cases::{Row, Suite, Verdict};
use pagefence::cell::{Profile, Scope};
use pagefence::explore::{Budget, Explorer, Finding, HuntOptions, News, Survey, canary, survey};
use pagefence::library;
use pagefence::lifetime::Severity;
use pagefence::report::{Table, Timeline, count};
use pagefence_models::finding::replay;
use serde::Serialize;
use std::path::{Path, PathBuf};
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
    let unexpected = unexpected(&rows)?;
    for timeline in &unexpected {
        console.line("")?;
        console.timeline(timeline)?;
    }
    console.line("")?;
    matrix::print(&rows, console)?;

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
        survey(&pairs, &options, &budget, |finding| suite.declares(finding).is_some(), at)
    };
    let saved = match &args.out {
        Some(folder) => survey.news.iter().map(|news| save(folder, &news.finding)).collect::<Result<Vec<_>>>()?,
        None => Vec::new(),
    };
    let news = news(&survey, &saved);
    print(&survey, &news, &saved, console)?;
    let as_declared =
        matrix::as_declared(&rows) && survey.news.is_empty() && survey.livelocks == 0 && !interrupt::pressed();
    if let Some(path) = &args.html {
        let timelines: Vec<Timeline> = unexpected.into_iter().chain(news).collect();
        draw(path, &rows, &survey, &timelines, as_declared, console)?;
    }
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

/// The timelines of what cases say must not be found.
fn unexpected(rows: &[Row]) -> Result<Vec<Timeline>> {
    let unexpected = rows.iter().filter(|row| row.verdict == Verdict::Unexpected);
    let tell = |finding: &Finding| {
        if finding.threads.is_some() {
            return Ok(replay(finding, finding.profile.switches)?.timeline);
        }
        let small = finding.minimise();
        let small = small.as_ref().unwrap_or(finding);
        Ok(small.story(&small.profile, None))
    };
    unexpected.filter_map(|row| row.finding.as_deref()).map(tell).collect()
}

/// The timelines of what no case declares.
fn news(survey: &Survey, saved: &[PathBuf]) -> Vec<Timeline> {
    let tell =
        |(at, news): (usize, &News)| news.finding.story(&news.finding.profile, saved.get(at).map(PathBuf::as_path));
    survey.news.iter().enumerate().map(tell).collect()
}

/// Draws the page: the table, and each finding that should not be there.
fn draw(
    path: &Path,
    rows: &[Row],
    survey: &Survey,
    timelines: &[Timeline],
    as_declared: bool,
    console: &mut Console,
) -> Result<()> {
    let verdict = if as_declared { "all as declared" } else { "NOT AS DECLARED" };
    let facts = vec![("cases".to_owned(), matrix::verdict(rows)), ("hunt".to_owned(), hunted(survey))];
    let mut tables = matrix::tables(rows);
    if !survey.news.is_empty() {
        tables.push(findings(survey));
    }
    page::write(path, format!("pagefence check: {verdict}"), facts, tables, timelines, console)
}

/// What is new, one a row.
fn findings(survey: &Survey) -> Table {
    view::findings(survey.news.iter().map(|news| &news.finding))
}

/// How far the hunt came, and what it met.
fn hunted(survey: &Survey) -> String {
    let Survey { hunted, closed, skipped, known, news, .. } = survey;
    format!(
        "{hunted} pairs of profile and scope ({closed} searched to their end, {skipped} not reached), \
         {known} known findings, {} new",
        news.len()
    )
}

fn print(survey: &Survey, timelines: &[Timeline], saved: &[PathBuf], console: &mut Console) -> Result<()> {
    for (news, timeline) in survey.news.iter().zip(timelines) {
        console.line("")?;
        console.timeline(timeline)?;
        let met: Vec<String> = news.met.iter().map(|(profile, scope)| format!("{profile} in {scope}")).collect();
        console.line(format!("met on {}", met.join(", ")))?;
    }
    console.line("")?;
    if !survey.news.is_empty() {
        console.table(&findings(survey))?;
    }
    for path in saved {
        console.line(format!("saved {}", path.display()))?;
    }
    console.line(format!("hunt: {}", hunted(survey)))?;
    if survey.skipped > 0 {
        console.line("the time was up before everything was hunted: give more with --budget")?;
    }
    if survey.livelocks > 0 {
        console.line(format!("{} NEVER CAME TO REST", count(survey.livelocks, "walk")))?;
    }
    if interrupt::pressed() {
        console.line("interrupted: what was found until then is above")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Format;
    use pagefence::cases::CheckOptions;

    /// The incident, as if it said that the version which has the fault has it not.
    fn wrong_case() -> Suite {
        let shipped = Suite::shipped();
        let mut case = shipped.cases().iter().find(|case| case.id == "INCIDENT-SMALL").unwrap().clone();
        (case.held, case.found, case.stopped_by) = (vec!["sglang-0.5.11".to_owned()], Vec::new(), Vec::new());
        Suite::of(vec![case])
    }

    #[test]
    fn the_page_has_the_table_and_what_is_not_as_declared() {
        let options =
            CheckOptions { seed: 1, jobs: 1, states: 50_000, reference_states: 50_000, walks: 64, stop: None };
        let rows = wrong_case().check(|_| true, &options, |_| {}).unwrap();
        let timelines = unexpected(&rows).unwrap();
        assert_eq!(timelines.len(), 1);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("check.html");
        let mut console = Console::new(Format::Json);
        draw(&path, &rows, &Survey::default(), &timelines, false, &mut console).unwrap();
        let page = std::fs::read_to_string(&path).unwrap();
        assert!(page.contains("<h1>pagefence check: NOT AS DECLARED</h1>"), "{page}");
        assert!(page.contains("1, 1 runs; 1 NOT AS DECLARED") && page.contains("UNEXPECTED es"), "{page}");
        assert_eq!(page.matches("<article").count(), 1);
        assert!(page.contains("stale-read"), "{page}");
    }
}
