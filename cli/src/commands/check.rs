//! `pagefence check`.

use crate::args::CheckArgs;
use crate::console::Console;
use crate::outcome::Outcome;
use anyhow::{Result, bail};

pub fn run(_args: &CheckArgs, _console: &mut Console) -> Result<Outcome> {
    bail!("check is not there yet")
}
