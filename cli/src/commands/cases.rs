//! `pagefence cases`.

use crate::args::{CasesArgs, threads};
use crate::console::Console;
use crate::interrupt;
use crate::matrix;
use crate::outcome::Outcome;
use anyhow::{Result, bail};
use pagefence::cases::{Case, Pattern, Race, Row, Status, Suite};
use pagefence::cell::nearest;
use pagefence::report::Table;
use serde::Serialize;

/// The whole result.
#[derive(Serialize)]
struct Report<'a> {
    command: &'static str,
    cases: Vec<&'a Case>,
    /// With `--run`, how each came out.
    rows: Option<&'a [Row]>,
}

pub fn run(args: &CasesArgs, console: &mut Console) -> Result<Outcome> {
    let suite = Suite::shipped();
    for id in &args.ids {
        if !suite.cases().iter().any(|case| case.id == *id) {
            let near = nearest(id, suite.cases().iter().map(|case| case.id.as_str()));
            let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            bail!("there is no case `{id}`{near}");
        }
    }
    let chosen = |case: &Case| args.ids.is_empty() || args.ids.contains(&case.id);
    let cases: Vec<&Case> = suite.cases().iter().filter(|case| chosen(case)).collect();
    let mut rows = None;
    if args.run {
        let jobs = threads(args.jobs);
        console.line(format!("cases: seed {}, jobs {jobs}", args.seed))?;
        let done = matrix::run(&suite, chosen, args.seed, jobs)?;
        matrix::print(&done, console)?;
        rows = Some(done);
    } else if args.ids.is_empty() {
        list(&cases, console)?;
    } else {
        for case in &cases {
            tell(case, console)?;
        }
    }
    console.json(&Report { command: "cases", cases, rows: rows.as_deref() })?;
    let wrong = rows.as_deref().is_some_and(|rows| !matrix::as_declared(rows) || interrupt::pressed());
    Ok(Outcome::found(wrong))
}

fn list(cases: &[&Case], console: &mut Console) -> Result<()> {
    let mut table = Table::new("", ["case", "violation", "scope", "what"]);
    for case in cases {
        let kinds: Vec<&str> = case.violation.kinds.iter().map(|kind| kind.name()).collect();
        let note = if case.status == Status::ModelFinding { " (model finding, not confirmed)" } else { "" };
        let places = std::iter::once(&case.scope).chain(case.races.iter().map(|race| &race.place));
        let places: Vec<&str> = places.map(String::as_str).filter(|place| !place.is_empty()).collect();
        table.push([case.id.clone(), kinds.join(", "), places.join(", "), format!("{}{note}", case.title)]);
    }
    console.table(&table)?;
    console.line("One in full: pagefence cases CASE. Run them: pagefence cases --run")?;
    Ok(())
}

fn tell(case: &Case, console: &mut Console) -> Result<()> {
    let status = match case.status {
        Status::Public => "public",
        Status::ModelFinding => "model finding, not confirmed",
    };
    console.line(format!("{}: {}", case.id, case.title))?;
    console.line(format!("  status     {status}"))?;
    if !case.scope.is_empty() {
        console.line(format!("  scope      {}", case.scope))?;
    }
    console.line(format!("  violation  {}", pattern(&case.violation)))?;
    for consequence in &case.consequences {
        console.line(format!("  leads to   {}", pattern(consequence)))?;
    }
    if !case.found.is_empty() {
        console.line(format!("  found on   {}", or_none(&case.found)))?;
        console.line(format!("  held on    {}", or_none(&case.held)))?;
        console.line(format!("  stopped by {}", or_none(&case.stopped_by)))?;
    }
    for race in &case.races {
        tell_race(case, race, console)?;
    }
    for reference in &case.references {
        console.line(format!("  see        {reference}"))?;
    }
    for line in case.story.trim().lines() {
        console.line(format!("  {line}"))?;
    }
    console.line("")?;
    Ok(())
}

/// Where threads show it.
fn tell_race(case: &Case, race: &Race, console: &mut Console) -> Result<()> {
    console.line(format!("  race       {}", race.place))?;
    console.line(format!("    violation  {}", pattern(race.pattern(case))))?;
    console.line(format!("    found on   {}", or_none(&race.found)))?;
    console.line(format!("    held on    {}", or_none(&race.held)))?;
    if let Some(schedule) = &race.schedule {
        console.line(format!("    schedule   {schedule}"))?;
    }
    Ok(())
}

fn or_none(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

/// `stale-read, torn-read; released DecodeTimeout`.
fn pattern(pattern: &Pattern) -> String {
    let mut text = pattern.kinds.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(", ");
    let parts = [("started", &pattern.started), ("released", &pattern.released), ("broke", &pattern.broke)];
    for (name, sites) in parts {
        if !sites.is_empty() {
            let sites: Vec<&str> = sites.iter().map(|site| site.name()).collect();
            text.push_str(&format!("; {name} {}", sites.join(" or ")));
        }
    }
    if pattern.unreleased {
        text.push_str("; posted after the release");
    }
    text
}
