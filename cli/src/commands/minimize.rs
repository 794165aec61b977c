//! `pagefence minimize`.

use crate::args::MinimizeArgs;
use crate::console::Console;
use crate::outcome::Outcome;
use anyhow::{Result, bail};
use pagefence::explore::Finding;
use pagefence::report::write_whole;
use serde::Serialize;

/// The whole result.
#[derive(Serialize)]
struct Report<'a> {
    command: &'static str,
    reproduced: bool,
    before: usize,
    after: Option<usize>,
    finding: Option<&'a Finding>,
}

pub fn run(args: &MinimizeArgs, console: &mut Console) -> Result<Outcome> {
    let finding = Finding::load(&args.file)?;
    if finding.threads.is_some() {
        let file = args.file.display();
        bail!("{file}: a schedule of threads is shrunk when it is found; `pagefence model replay` follows it");
    }
    let before = finding.script.len();
    let small = finding.minimise();
    let after = small.as_ref().map(|small| small.script.len());
    if let (Some(small), Some(path)) = (&small, &args.output) {
        write_whole(path, small.to_json())?;
    }
    console.json(&Report {
        command: "minimize",
        reproduced: small.is_some(),
        before,
        after,
        finding: small.as_ref(),
    })?;
    let Some(small) = small else {
        console.line(format!("no longer reproduced, nothing written: {}", finding.signature))?;
        return Ok(Outcome::Found);
    };
    match &args.output {
        Some(path) => console.line(format!("{before} steps to {}: {}", small.script.len(), path.display()))?,
        None if console.is_text() => console.product(&small.to_json())?,
        None => {}
    }
    Ok(Outcome::AsDeclared)
}
