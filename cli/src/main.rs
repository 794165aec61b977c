//! The `pagefence` command: it parses, calls the library, and prints.

mod args;
mod atlas;
mod commands;
mod console;
mod interrupt;
mod matrix;
mod nightly;
mod outcome;
mod page;
mod progress;
mod races;
mod scripted;
mod time;
mod view;

use clap::Parser as _;
use outcome::Outcome;

fn main() -> Outcome {
    let cli = args::Cli::parse();
    let mut console = console::Console::new(cli.format);
    match commands::run(cli, &mut console) {
        Ok(outcome) => outcome,
        Err(error) => console.failed(&error),
    }
}
