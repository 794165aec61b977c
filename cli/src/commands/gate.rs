//! `pagefence gate`.

use crate::args::GateArgs;
use crate::console::Console;
use crate::outcome::Outcome;
use anyhow::{Result, anyhow, bail};
use pagefence::gate::{GateReport, Source, TextKind, judge};
use pagefence::input::read_bytes;
use serde::Serialize;
use std::path::Path;
use std::time::Duration;

/// The whole result.
#[derive(Serialize)]
struct Report<'a> {
    command: &'static str,
    #[serde(flatten)]
    gate: &'a GateReport,
}

/// The largest log. What the gate reads stands at its beginning.
const MAX_LOG: u64 = 256 << 20;
/// The largest page over the network.
const MAX_PAGE: u64 = 16 << 20;
/// How long a node may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);

pub fn run(args: &GateArgs, console: &mut Console) -> Result<Outcome> {
    let texts = args.sources.iter().map(|source| text(source)).collect::<Result<Vec<_>>>()?;
    let sources: Vec<Source<'_>> =
        args.sources.iter().zip(&texts).map(|(name, text)| Source { name, kind: TextKind::of(text), text }).collect();
    let report = judge(&sources, args.context)?;
    console.line(report.to_string().trim_end())?;
    console.json(&Report { command: "gate", gate: &report })?;
    Ok(Outcome::found(!report.covers))
}

/// What a source says. Logs are of any encoding; what the gate reads of them is ASCII.
fn text(source: &str) -> Result<String> {
    let bytes = if source.starts_with("http://") {
        fetch(source)?
    } else if source.starts_with("https://") {
        bail!("{source}: this build has no TLS; fetch the page with curl and give the file");
    } else {
        read_bytes(Path::new(source), MAX_LOG)?
    };
    Ok(String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

fn fetch(url: &str) -> Result<Vec<u8>> {
    let config = ureq::Agent::config_builder().timeout_global(Some(PATIENCE)).max_redirects(2).build();
    let agent = ureq::Agent::new_with_config(config);
    let failed = |error: ureq::Error| anyhow!("{url}: {error}");
    let mut answer = agent.get(url).call().map_err(failed)?;
    answer.body_mut().with_config().limit(MAX_PAGE).read_to_vec().map_err(failed)
}
