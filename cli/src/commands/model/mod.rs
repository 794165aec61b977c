//! `pagefence model`: the cell on threads.

mod replay;
mod run;

use crate::args::{ModelArgs, ModelCommand};
use crate::console::Console;
use crate::interrupt;
use crate::outcome::Outcome;
use anyhow::Result;
use pagefence::report::Table;
use pagefence_models::all;
use serde::Serialize;

pub(super) use replay::replay_finding;

pub fn run(args: &ModelArgs, console: &mut Console) -> Result<Outcome> {
    match &args.command {
        ModelCommand::List => list(console),
        ModelCommand::Run(args) => run::run(args, console),
        ModelCommand::Replay(args) => replay_finding(args, console),
        ModelCommand::Worker => {
            // A terminal sends Ctrl-C to the worker too. Its parent says when it is to end.
            interrupt::flag();
            std::process::exit(pagefence_models::isolated::worker())
        }
    }
}

#[derive(Serialize)]
struct Listed {
    model: &'static str,
    slice: String,
    about: String,
    whole: bool,
    threads: Vec<String>,
}

fn list(console: &mut Console) -> Result<Outcome> {
    let mut listed = Vec::new();
    for model in all() {
        let mut table = Table::new(format!("{}: {}", model.name, model.about), ["slice", "threads", "what races"]);
        for (slice, whole) in
            model.slices.iter().map(|slice| (slice, false)).chain(model.wholes.iter().map(|slice| (slice, true)))
        {
            let threads: Vec<String> = slice.shifts.iter().map(|shift| shift.actor.to_string()).collect();
            let who = if whole { format!("all {}", threads.len()) } else { threads.join(", ") };
            table.push([slice.name.clone(), who, slice.about.clone()]);
            let (name, about) = (slice.name.clone(), slice.about.clone());
            listed.push(Listed { model: model.name, slice: name, about, whole, threads });
        }
        console.table(&table)?;
        console.line("")?;
    }
    console.json(&listed)?;
    Ok(Outcome::AsDeclared)
}
