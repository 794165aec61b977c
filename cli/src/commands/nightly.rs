//! `pagefence nightly` and `pagefence merge`.

use crate::args::{MergeArgs, NightlyArgs, threads};
use crate::console::Console;
use crate::interrupt;
use crate::nightly::{About, Budgets, Folder, Night, Options, run as run_night, write};
use crate::outcome::Outcome;
use anyhow::{Context as _, Result};
use pagefence::report::count;
use std::path::Path;

pub fn run(args: &NightlyArgs, console: &mut Console) -> Result<Outcome> {
    let mut budgets = match &args.budgets {
        Some(path) => Budgets::load(path)?,
        None => Budgets::shipped(args.quick)?,
    };
    args.skip.iter().for_each(|area| budgets.skip(*area));
    let previous = read(args.previous.as_deref())?;
    let options = Options {
        out: args.out.clone(),
        budgets,
        seed: args.seed,
        shard: args.shard,
        jobs: threads(args.jobs),
        checkout: args.checkout.clone(),
        previous: args.previous.clone(),
    };
    let night = run_night(&options, console)?;
    report(&night, previous.as_ref(), &args.out, console)
}

pub fn merge(args: &MergeArgs, console: &mut Console) -> Result<Outcome> {
    let previous = read(args.previous.as_deref())?;
    let shards = args.shards.iter().map(|root| Night::read(root)).collect::<Result<Vec<_>>>()?;
    let night = Night::merge(&shards)?;
    let about: &About = &night.about;
    let folder = Folder::open(&args.out, about)?;
    let mut inputs = 0;
    for root in &args.shards {
        inputs += folder.take_inputs(root)?;
    }
    night.records.iter().try_for_each(|record| folder.keep(record))?;
    let shards = count(args.shards.len() as u64, "shard");
    console.line(format!(
        "merge: {shards}, {}, {}",
        count(night.records.len() as u64, "task"),
        count(inputs, "input")
    ))?;
    report(&night, previous.as_ref(), &args.out, console)
}

/// The night before.
fn read(root: Option<&Path>) -> Result<Option<Night>> {
    root.map(Night::read).transpose().context("--previous")
}

/// Writes what people and services look at, and says how it went.
fn report(night: &Night, previous: Option<&Night>, root: &Path, console: &mut Console) -> Result<Outcome> {
    let summary = write(night, previous, root)?;
    for table in &summary {
        console.line("")?;
        console.table(table)?;
    }
    console.line("")?;
    for finding in night.findings() {
        let place = format!("{} in {}", finding.profile.name, finding.place());
        let path = root.join("findings").join(finding.file_name());
        console.line(format!("NEW: {} on {place}: {}", finding.signature, path.display()))?;
    }
    if interrupt::pressed() {
        console.line("interrupted: what was done is kept, and the same command goes on")?;
    }
    console.line(format!("nightly: {}", night.verdict()))?;
    console.line(format!("report: {}", root.join("report.html").display()))?;
    console.json(&night.summary())?;
    Ok(Outcome::found(!night.passed() || !night.complete()))
}
