//! `pagefence model replay`, and `pagefence replay` of what threads have shown.

use crate::args::ReplayArgs;
use crate::commands::replay::profile;
use crate::console::Console;
use crate::outcome::Outcome;
use crate::page;
use anyhow::{Result, bail};
use pagefence::cell::Profile;
use pagefence::explore::{Finding, Words};
use pagefence_models::finding::replay;
use serde::Serialize;

/// What a replay came to.
#[derive(Serialize)]
struct Replay<'a> {
    command: &'static str,
    file: String,
    profile: &'a Profile,
    signature: &'a Words,
    reproduced: bool,
    others: &'a [Words],
    diverges: Option<usize>,
}

pub fn replay_finding(args: &ReplayArgs, console: &mut Console) -> Result<Outcome> {
    let finding = Finding::load(&args.file)?;
    let profile = profile(args, &finding)?;
    let file = args.file.display().to_string();
    let replayed = match replay(&finding, profile.switches) {
        Ok(replayed) => replayed,
        Err(error) => bail!("{file}: {error}"),
    };
    let own = profile == finding.profile;
    if own && let (None, Some(at)) = (&replayed.same, replayed.diverges) {
        // The same switches and another course: it is the program that has changed.
        bail!("{file}: the schedule does not fit this version: it leaves it at entry {at}");
    }
    console.line(format!("model replay: profile {}, {} entries", profile.name, entries(&finding)))?;
    console.timeline(&replayed.timeline)?;
    let reproduced = replayed.same.is_some();
    console.line(if reproduced { "reproduced".to_owned() } else { format!("{} is gone", finding.signature) })?;
    for other in replayed.others.iter().filter(|_| !reproduced) {
        console.line(format!("instead: {other}"))?;
    }
    if let Some(path) = &args.html {
        let rows = vec![("file".into(), file.clone()), ("profile".into(), profile.name.clone())];
        let title = format!("pagefence: {}", finding.signature);
        page::write(path, title, rows, Vec::new(), std::slice::from_ref(&replayed.timeline), console)?;
    }
    console.json(&Replay {
        command: "model replay",
        file,
        profile: &profile,
        signature: &finding.signature,
        reproduced,
        others: &replayed.others,
        diverges: replayed.diverges,
    })?;
    Ok(Outcome::found(reproduced || !replayed.others.is_empty()))
}

fn entries(finding: &Finding) -> usize {
    finding.threads.as_ref().map_or(0, |threads| threads.schedule.len())
}
