//! The story of a script: what the cell did, step by step, in words, with the steps that race marked.

mod beat;
mod marks;
mod messages;
mod phrases;
mod places;
#[cfg(test)]
mod tests;
mod watch;

pub use self::beat::Act;

use self::beat::{Beat, record};
use self::marks::Marks;
use super::headline::headline;
use super::timeline::{MarkedViolation, Timeline};
use crate::cell::{Config, Profile, Step};
use crate::explore::{Finding, Seen, ServingState, Signature};
use crate::lifetime::Violation;
use crate::number::count;
use std::path::Path;

/// At most so many violations are marked: each is a line of its own.
const MARKED: usize = 8;

/// Runs a script with a drain after it and tells what happens. With `show`, up to where that violation is seen, and
/// about the slots that it concerns; without, to the end, about the worst that is seen.
///
/// Steps that change nothing are left out.
#[must_use]
pub fn story(config: &Config, script: &[Step], show: Option<&Signature>) -> Timeline {
    let mut timeline = told(config, &record(config, script, show), show);
    timeline.script = Some(script.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"));
    timeline
}

/// Tells what a script led up to, what threads then did, and what a drain showed after them, up to where the violation
/// is seen.
#[must_use]
pub fn threaded_story(
    config: &Config,
    script: &[Step],
    acts: &[Act],
    after: &ServingState,
    show: &Signature,
) -> Timeline {
    let mut beats = beat::lead_up(config, script);
    beats.extend(acts.iter().map(beat::act));
    let shows = |beat: &Beat| beat.violations.iter().any(|violation| Signature::from(violation) == *show);
    if let Some(last) = beats.iter().position(shows) {
        beats.truncate(last + 1);
    } else {
        // It ends where it is seen.
        beats.extend(beat::drain(config, after, show));
    }
    told(config, &beats, Some(show))
}

/// The timeline of what was heard.
fn told(config: &Config, beats: &[Beat], show: Option<&Signature>) -> Timeline {
    let mut marks = Marks::new(config);
    let mut all: Vec<(Violation, MarkedViolation)> = Vec::new();
    for (at, beat) in beats.iter().enumerate() {
        marks.hear(at + 1, beat);
        for violation in &beat.violations {
            let known = |other: &&(Violation, MarkedViolation)| Signature::from(&other.0) == Signature::from(violation);
            if all.iter().find(known).is_none() {
                all.push((violation.clone(), marks.mark(violation, at + 1)));
            }
        }
    }
    let main = match show {
        Some(signature) => all.iter().position(|(violation, _)| Signature::from(violation) == *signature),
        None => None,
    };
    let worst = || (0..all.len()).min_by_key(|&at| (std::cmp::Reverse(all[at].0.kind.severity()), all[at].1.broke));
    let main = main.or_else(worst).map(|at| all[at].clone());

    let title = main.as_ref().map_or_else(|| "nothing breaks".to_owned(), |(violation, _)| headline(violation));
    let mut timeline = Timeline::new(title);
    timeline.watched = watch::watched(config, &marks, main.as_ref().map(|(violation, _)| violation));
    for beat in beats {
        let step = phrases::step(config, beat, &timeline.watched);
        timeline.push(step);
    }
    all.retain(|told| main.as_ref().is_none_or(|main| marks::related(main, told)));
    let mut surplus = all.len().saturating_sub(MARKED);
    for told in all {
        let subject = main.as_ref() == Some(&told);
        // What comes last is the worst as a rule; what this is about must never be cut.
        if surplus > 0 && !subject {
            surplus -= 1;
            continue;
        }
        let (violation, mut marked) = told;
        marked.watched = timeline.concerned(&violation);
        timeline.subject = if subject { Some(timeline.violations.len()) } else { timeline.subject };
        timeline.violations.push(marked);
    }
    timeline.fill_slots();
    timeline
}

impl Finding {
    /// The story of this finding under `profile`, which need not be its own. `file` is where the finding is kept.
    #[must_use]
    pub fn story(&self, profile: &Profile, file: Option<&Path>) -> Timeline {
        let config = Config { switches: profile.switches, scope: self.scope.clone() };
        let mut timeline = story(&config, &self.script, Some(&self.signature.into()));
        timeline.title = self.signature.to_string();
        let minimal = if self.minimised { "minimal script" } else { "script" };
        let steps = self.script.len();
        timeline.subtitle = vec![
            format!("profile {}", profile.name),
            format!("scope {}", self.scope.name),
            format!("found by {}, seed {}", self.found.explorer, self.found.seed),
            format!("{minimal} of {}", count(steps as u64, "step")),
        ];
        match self.seen {
            Seen::Step => {}
            Seen::Drain => timeline.subtitle.push("seen when the script is drained".to_owned()),
            Seen::Rest => timeline.subtitle.push("judged at rest".to_owned()),
        }
        timeline.reproduce = file.map(|file| {
            let other = if *profile == self.profile { String::new() } else { settings(&self.profile, profile) };
            format!("pagefence replay {}{other}", quoted(&file.display().to_string()))
        });
        timeline
    }
}

/// The options that turn `from` into `to`.
fn settings(from: &Profile, to: &Profile) -> String {
    let changed = crate::cell::Switch::ALL.iter().filter(|&&switch| from.switches.on(switch) != to.switches.on(switch));
    changed.map(|&switch| format!(" --set {switch}={}", if to.switches.on(switch) { "on" } else { "off" })).collect()
}

/// A word for a shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+=,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

impl Beat {
    /// Whether nothing acts: the state was judged.
    fn is_rest(&self) -> bool {
        self.step.is_none()
    }
}
