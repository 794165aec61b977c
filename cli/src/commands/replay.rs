//! `pagefence replay`.

use crate::args::ReplayArgs;
use crate::console::Console;
use crate::outcome::Outcome;
use crate::page;
use anyhow::Result;
use pagefence::cell::Profile;
use pagefence::explore::{Finding, Reproduction, Seen, Words};
use pagefence::library;
use pagefence::report::{Timeline, count};
use serde::Serialize;

/// The whole result.
#[derive(Serialize)]
struct Report<'a> {
    command: &'static str,
    file: String,
    profile: &'a Profile,
    signature: &'a Words,
    reproduced: bool,
    seen: Option<Seen>,
    /// What else broke, each signature once.
    others: Vec<Words>,
    taken: usize,
    skipped: usize,
    timeline: &'a Timeline,
}

pub fn run(args: &ReplayArgs, console: &mut Console) -> Result<Outcome> {
    let finding = Finding::load(&args.file)?;
    if finding.threads.is_some() {
        return super::model::replay_finding(args, console);
    }
    let profile = profile(args, &finding)?;
    let again = finding.reproduce(profile.switches);
    let timeline = finding.story(&profile, Some(&args.file));
    let verdict = verdict(&finding, &profile, &again);
    let others: Vec<Words> = again.others.iter().filter_map(Words::of).collect();
    console
        .line(format!("replay: seed {}, profile {}, scope {}", finding.found.seed, profile.name, finding.scope.name))?;
    console.timeline(&timeline)?;
    for other in others.iter().filter(|_| again.same.is_none()) {
        console.line(format!("instead: {other}"))?;
    }
    console.line(&verdict)?;
    if let Some(path) = &args.html {
        let rows = vec![
            ("file".into(), args.file.display().to_string()),
            ("profile".into(), profile.name.clone()),
            ("scope".into(), finding.scope.name.clone()),
            ("replay".into(), verdict),
        ];
        let title = format!("pagefence: {}", finding.signature);
        page::write(path, title, rows, Vec::new(), std::slice::from_ref(&timeline), console)?;
    }
    let broken = again.same.is_some() || !again.others.is_empty();
    let report = Report {
        command: "replay",
        file: args.file.display().to_string(),
        profile: &profile,
        signature: &finding.signature,
        reproduced: again.same.is_some(),
        seen: again.same.as_ref().map(|same| same.1),
        others,
        taken: again.replayed.taken,
        skipped: again.replayed.skipped,
        timeline: &timeline,
    };
    console.json(&report)?;
    Ok(Outcome::found(broken))
}

/// The finding's own profile, or another, with settings on top.
pub(super) fn profile(args: &ReplayArgs, finding: &Finding) -> Result<Profile> {
    if let Some(word) = &args.profile {
        return Ok(library::profile(word, &args.settings)?);
    }
    let changed = args.settings.iter().try_fold(finding.profile.clone(), |profile, setting| profile.set(setting));
    Ok(changed?)
}

fn verdict(finding: &Finding, profile: &Profile, again: &Reproduction) -> String {
    let skipped = match again.replayed.skipped {
        0 => String::new(),
        1 => "; 1 step was not enabled".to_owned(),
        n => format!("; {} were not enabled", count(n as u64, "step")),
    };
    let what = &finding.signature;
    let under = if *profile == finding.profile { String::new() } else { format!(" under {}", profile.name) };
    match &again.same {
        Some((_, Seen::Step)) => format!("reproduced{under}: {what}{skipped}"),
        Some((_, Seen::Drain)) => format!("reproduced{under}, while the script is drained: {what}{skipped}"),
        Some((_, Seen::Rest)) => format!("reproduced{under}, at rest: {what}{skipped}"),
        None => format!("no longer reproduced{under}: {what}{skipped}"),
    }
}
