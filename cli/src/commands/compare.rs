//! `pagefence compare`.

use super::save;
use crate::args::{CompareArgs, threads};
use crate::console::Console;
use crate::interrupt;
use crate::outcome::Outcome;
use crate::page;
use crate::progress::Spinner;
use crate::view;
use anyhow::{Result, bail};
use pagefence::cell::{Producer, Profile, Scope};
use pagefence::explore::{Budget, Explorer, Finding, HuntOptions, hunt};
use pagefence::library;
use pagefence::report::{Cell, Table, Timeline, Tone, count};
use pagefence_harness::atlas::{Atlas, Reached, Stage, draw};
use serde::Serialize;
use std::path::PathBuf;

/// What a scope shows on both profiles.
#[derive(Serialize)]
struct Compared {
    scope: String,
    /// Whether the search saw every state, on each.
    closed: (bool, bool),
    same: usize,
    appeared: Vec<Finding>,
    gone: Vec<Finding>,
}

/// A cell of the rejection atlas that is not the same on both.
#[derive(Serialize)]
struct Changed {
    producer: Producer,
    stage: Stage,
    before: Option<Reached>,
    after: Option<Reached>,
}

/// The whole result.
#[derive(Serialize)]
struct Report<'a> {
    command: &'static str,
    before: &'a Profile,
    after: &'a Profile,
    seed: u64,
    scopes: &'a [Compared],
    atlas: &'a [Changed],
    saved: &'a [PathBuf],
}

pub fn run(args: &CompareArgs, console: &mut Console) -> Result<Outcome> {
    interrupt::flag();
    let (before, after) = profiles(args)?;
    let scopes: Vec<Scope> = match args.scopes.as_slice() {
        [] => library::scopes().collect(),
        words => words.iter().map(|word| library::scope(word)).collect::<Result<_, _>>()?,
    };
    console.line(format!(
        "compare: {} with {}, {}, seed {}, {} states and {} walks each",
        before.name,
        after.name,
        count(scopes.len() as u64, "scope"),
        args.seed,
        args.states,
        args.walks
    ))?;
    let mut compared = Vec::new();
    let bar = Spinner::bar("comparing", scopes.len());
    for scope in &scopes {
        compared.push(compare(args, &before, &after, scope));
        if interrupt::pressed() {
            bail!("interrupted; half a comparison says nothing");
        }
        bar.done(scope.name.clone());
    }
    drop(bar);
    let atlas = changes(&draw(&before, args.atlas, args.seed), &draw(&after, args.atlas, args.seed));
    let appeared = || compared.iter().flat_map(|scope| &scope.appeared);
    let saved = match &args.out {
        Some(folder) => appeared().map(|finding| save(folder, finding)).collect::<Result<Vec<_>>>()?,
        None => Vec::new(),
    };
    let timelines: Vec<Timeline> = appeared()
        .enumerate()
        .map(|(at, finding)| finding.story(&finding.profile, saved.get(at).map(PathBuf::as_path)))
        .collect();
    print(&compared, &atlas, &timelines, &saved, console)?;
    if let Some(path) = &args.html {
        let facts = vec![("before".to_owned(), before.name.clone()), ("after".to_owned(), after.name.clone())];
        let title = format!("pagefence compare: {}", verdict(&compared));
        page::write(path, title, facts, tables(&compared, &atlas), &timelines, console)?;
    }
    let (before, after, seed) = (&before, &after, args.seed);
    let report = Report { command: "compare", before, after, seed, scopes: &compared, atlas: &atlas, saved: &saved };
    console.json(&report)?;
    Ok(Outcome::found(appeared().next().is_some()))
}

/// The first profile, and the second one: another by name, or the first with settings.
fn profiles(args: &CompareArgs) -> Result<(Profile, Profile)> {
    let before = library::profile(&args.before, &[])?;
    let after = library::profile(args.after.as_ref().unwrap_or(&args.before), &args.settings)?;
    if before.switches == after.switches {
        bail!("both are the same: name a second profile, or set a switch with --set");
    }
    Ok((before, after))
}

fn compare(args: &CompareArgs, before: &Profile, after: &Profile, scope: &Scope) -> Compared {
    let options = HuntOptions {
        seed: args.seed,
        jobs: threads(args.jobs),
        explorers: vec![Explorer::Exhaustive, Explorer::Swarm],
        stop_at: args.stop_at.into(),
        minimise: false,
    };
    let budget = Budget {
        // Nothing that depends on how fast the machine is: the same on both, and again tomorrow.
        states: Some(args.states),
        walks: Some(args.walks),
        stop: Some(interrupt::flag()),
        ..Budget::default()
    };
    let (one, other) = (hunt(before, scope, &options, &budget), hunt(after, scope, &options, &budget));
    let without = |these: &[Finding], those: &[Finding]| {
        let missing = |finding: &&Finding| those.iter().all(|other| other.signature != finding.signature);
        let small = |finding: &Finding| finding.minimise().unwrap_or_else(|| finding.clone());
        these.iter().filter(missing).map(small).collect::<Vec<_>>()
    };
    let closed = (one.closed(), other.closed());
    let (gone, appeared) = (without(&one.findings, &other.findings), without(&other.findings, &one.findings));
    Compared { scope: scope.name.clone(), closed, same: other.findings.len() - appeared.len(), appeared, gone }
}

/// Cells that one of them reaches and the other does not, or in which something worse comes of it.
fn changes(before: &Atlas, after: &Atlas) -> Vec<Changed> {
    let cells = Producer::ALL.iter().flat_map(|producer| Stage::ALL.map(|stage| (*producer, stage)));
    let change = |(producer, stage)| {
        let (before, after) = (before.cell(producer, stage), after.cell(producer, stage));
        let same = before.map(|cell| cell.worst) == after.map(|cell| cell.worst);
        (!same).then_some(Changed { producer, stage, before, after })
    };
    cells.filter_map(change).collect()
}

fn verdict(compared: &[Compared]) -> String {
    let sum = |of: fn(&Compared) -> usize| compared.iter().map(of).sum::<usize>() as u64;
    let (appeared, gone) = (sum(|scope| scope.appeared.len()), sum(|scope| scope.gone.len()));
    format!("{} APPEARED, {gone} gone", count(appeared, "finding"))
}

fn print(
    compared: &[Compared],
    atlas: &[Changed],
    timelines: &[Timeline],
    saved: &[PathBuf],
    console: &mut Console,
) -> Result<()> {
    for timeline in timelines.iter().take(SHOWN) {
        console.line("")?;
        console.timeline(timeline)?;
    }
    for table in tables(compared, atlas) {
        console.line("")?;
        console.table(&table)?;
    }
    for path in saved {
        console.line(format!("saved {}", path.display()))?;
    }
    console.line("")?;
    console.line(LEGEND)?;
    console.line(format!("compare: {}", verdict(compared)))?;
    Ok(())
}

/// How many timelines are drawn: the table names the others.
const SHOWN: usize = 3;

const LEGEND: &str = "\
appeared: not on the first. gone: not on the second, and no state of it is left to look at. gone?: the search of the second
was cut short, so that is no proof.";

fn tables(compared: &[Compared], atlas: &[Changed]) -> Vec<Table> {
    let mut findings = Table::new("findings", ["", "scope", "what", "steps"]);
    for Compared { scope, closed, appeared, gone, .. } in compared {
        let left = if closed.1 { Cell::new("gone", Tone::Good) } else { Cell::new("gone?", Tone::Warn) };
        let new = Cell::new("appeared", Tone::Bad);
        let rows = appeared.iter().map(|finding| (new.clone(), finding)).chain(gone.iter().map(|f| (left.clone(), f)));
        for (what, finding) in rows {
            let steps = finding.script.len().to_string();
            findings.push([what, scope.as_str().into(), finding.signature.to_string().into(), steps.into()]);
        }
    }
    let mut cells = Table::new("rejection atlas", ["producer", "stage", "before", "after"]);
    for Changed { producer, stage, before, after } in atlas {
        cells.push([producer.name().into(), stage.name().into(), came_of(*before), came_of(*after)]);
    }
    [findings, cells].into_iter().filter(|table| !table.rows.is_empty()).collect()
}

fn came_of(cell: Option<Reached>) -> Cell {
    match cell {
        None => Cell::new("not reached", Tone::Dim),
        Some(Reached { worst: None, .. }) => Cell::new("reached, unharmed", Tone::Good),
        Some(Reached { worst: Some(worst), .. }) => Cell::new(worst.to_string(), view::tone(worst)),
    }
}
