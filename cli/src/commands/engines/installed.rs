//! `pagefence engine`.

use crate::args::{EngineArgs, EngineCommand};
use crate::console::Console;
use crate::outcome::Outcome;
use anyhow::Result;
use pagefence::report::{Cell, Table, Tone};
use pagefence_drive::home::{Home, Release};
use serde::Serialize;

/// The whole result.
#[derive(Serialize)]
struct Report<'a> {
    command: &'static str,
    folder: String,
    releases: &'a [Release],
}

pub fn run(args: &EngineArgs, console: &mut Console) -> Result<Outcome> {
    let home = Home::of_user()?;
    match &args.command {
        EngineCommand::Install { release } => home.install(release)?,
        EngineCommand::Remove { release } => home.remove(release)?,
        EngineCommand::List => {}
    }
    let releases = home.list()?;
    let mut table = Table::new("", ["engine", "torch", "profile", "installed"]);
    for release in &releases {
        let there = match release.python_path {
            Some(_) => Cell::new("yes", Tone::Good),
            None => "no".into(),
        };
        let (name, profile) = (release.name(), release.profile().name);
        table.push([name.into(), release.torch.as_str().into(), profile.into(), there]);
    }
    console.table(&table)?;
    console.line(format!("engines are in {}", home.folder().display()))?;
    let folder = home.folder().display().to_string();
    console.json(&Report { command: "engine", folder, releases: &releases })?;
    Ok(Outcome::AsDeclared)
}
