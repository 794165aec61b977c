//! The commands about real engines.

pub mod confirm;
pub mod conform;
pub mod drive;
pub mod installed;

use crate::console::Console;
use crate::scripted::Scripted;
use anyhow::{Context as _, Result};
use flate2::Compression;
use flate2::write::GzEncoder;
use pagefence::lifetime::Violation;
use pagefence::report::write_whole;
use pagefence_drive::home::{Home, Release};
use pagefence_drive::lockstep::{Told, Trial, attempt};
use pagefence_drive::pair::Hosts;
use pagefence_drive::recording::Recording;
use std::io::Write as _;
use std::path::Path;

/// Starts a pair of hosts of a release in the scope of a script, saying what takes the time.
fn start(home: &Home, release: &Release, scripted: &Scripted, console: &mut Console) -> Result<Hosts> {
    let name = release.name();
    console.note(format!("starting a prefill and a decode of {name} in scope {} ...", scripted.scope.name));
    let mut hosts = Hosts::start(home, release, &scripted.scope)?;
    for hook in hosts.missing()? {
        console.note(format!("{name} has no place for a hook of pagefence: {hook}"));
    }
    Ok(hosts)
}

/// Carries a script out, and records it.
fn record(
    scripted: &Scripted,
    release: &Release,
    hosts: &mut Hosts,
    mut observe: impl FnMut(&Told),
) -> Result<(Trial, Recording)> {
    let serving = scripted.serving(release);
    let mut recording = Recording::new(&scripted.scope);
    let trial = attempt(&serving, hosts, &scripted.plan(&serving), |told| {
        recording.add(told);
        observe(told);
    })?;
    Ok((trial, recording))
}

/// Every violation of a trial.
fn violations(trial: &Trial) -> Vec<Violation> {
    trial.steps.iter().flat_map(|told| told.violations.iter().cloned()).collect()
}

/// Writes a trace, gzipped where its name says so.
fn write_trace(path: &Path, recording: &Recording) -> Result<()> {
    if path.extension().is_none_or(|extension| extension != "gz") {
        return Ok(write_whole(path, recording.text())?);
    }
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(recording.text().as_bytes()).with_context(|| path.display().to_string())?;
    Ok(write_whole(path, encoder.finish().with_context(|| path.display().to_string())?)?)
}
