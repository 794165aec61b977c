//! One file a command.

mod atlas;
mod audit;
mod cases;
mod check;
mod compare;
mod engines;
mod gate;
mod hunt;
mod minimize;
mod model;
mod nightly;
mod profiles;
mod promote;
mod prove;
mod replay;
mod scopes;

use crate::args::{CheckArgs, Cli, Command};
use crate::console::Console;
use crate::outcome::Outcome;
use anyhow::{Result, bail};
use clap::CommandFactory as _;
use pagefence::explore::Finding;
use pagefence::report::write_whole;
use std::path::{Path, PathBuf};

/// Does what was asked for.
pub fn run(cli: Cli, console: &mut Console) -> Result<Outcome> {
    let Some(command) = cli.command else { return check::run(&cli.check, console) };
    if cli.check != CheckArgs::default() {
        bail!("options of `check` stand before another command; write them after it");
    }
    match command {
        Command::Check(args) => check::run(&args, console),
        Command::Cases(args) => cases::run(&args, console),
        Command::Hunt(args) => hunt::run(&args, console),
        Command::Prove(args) => prove::run(&args, console),
        Command::Replay(args) => replay::run(&args, console),
        Command::Minimize(args) => minimize::run(&args, console),
        Command::Profiles(args) => profiles::run(&args, console),
        Command::Scopes => scopes::run(console),
        Command::Atlas(args) => atlas::run(&args, console),
        Command::Nightly(args) => nightly::run(&args, console),
        Command::Merge(args) => nightly::merge(&args, console),
        Command::Compare(args) => compare::run(&args, console),
        Command::Promote(args) => promote::run(&args, console),
        Command::Audit(args) => audit::run(&args, console),
        Command::Model(args) => model::run(&args, console),
        Command::Engine(args) => engines::installed::run(&args, console),
        Command::Drive(args) => engines::drive::run(&args, console),
        Command::Confirm(args) => engines::confirm::run(&args, console),
        Command::Conform(args) => engines::conform::run(&args, console),
        Command::Gate(args) => gate::run(&args, console),
        Command::Completions { shell } => {
            let mut text = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "pagefence", &mut text);
            console.product(&String::from_utf8_lossy(&text))?;
            Ok(Outcome::AsDeclared)
        }
    }
}

/// Saves a finding in `folder`, which is made if it isn't there.
fn save(folder: &Path, finding: &Finding) -> Result<PathBuf> {
    if let Err(error) = std::fs::create_dir_all(folder) {
        bail!("{}: {error}", folder.display());
    }
    let path = folder.join(finding.file_name());
    write_whole(&path, finding.to_json())?;
    Ok(path)
}
