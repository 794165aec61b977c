//! Findings as files: everything that it takes to see one again, years later.

use super::found::Found;
use super::minimise::{MinimiseOptions, Minimised, minimise};
use super::replay::{Replayed, Tail, replay};
use super::schedule::Threads;
use super::serving::Serving;
use super::signature::Signature;
use super::walker::Moment;
use super::words::{ViolationInWords, Words};
use crate::cell::{Config, Profile, Scope, Step, Switches};
use crate::input::{InputError, read_bytes};
use crate::lifetime::Violation;
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;
use std::path::Path;

/// The name of the schema, in every file.
const SCHEMA: &str = "pagefence-finding";
/// The version of the schema that this build reads and writes.
const VERSION: u64 = 1;
/// The largest file that is read.
const MAX_FILE: u64 = 16 << 20;
/// The longest script: an order of magnitude more than any explorer walks.
const MAX_SCRIPT: usize = 1 << 16;
/// The bound of the drain that follows a script.
pub const DRAIN_BOUND: usize = 4096;

/// When a violation is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Seen {
    /// In the last step of the script.
    Step,
    /// In a step of the drain that follows the script.
    Drain,
    /// When the state was judged at rest, during the drain or at its end.
    Rest,
}

/// Who found something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Origin {
    /// The explorer, by name: `exhaustive`, `swarm`.
    pub explorer: String,
    /// The seed of the run; it matters to random walks only.
    pub seed: u64,
    /// The walk, where it was a random one.
    #[serde(default)]
    pub walk: Option<u64>,
    /// How often the run met the signature.
    pub count: u64,
}

/// One violation, and the script that shows it under a profile in a scope.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Finding {
    schema: String,
    version: u64,
    /// The version of pagefence that wrote it.
    pub pagefence: String,
    /// What makes it the same as other findings.
    pub signature: Words,
    /// The profile, every switch by name, so that an old file goes on saying what it meant.
    pub profile: Profile,
    /// The scope.
    pub scope: Scope,
    /// The steps from the initial state.
    pub script: Vec<Step>,
    /// What threads do after the script, where it takes threads to see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<Threads>,
    /// When the violation is seen.
    pub seen: Seen,
    /// Whether no step can be left out of the script.
    pub minimised: bool,
    /// The violation as the script shows it.
    #[serde(with = "ViolationInWords")]
    pub violation: Violation,
    /// Who found it.
    pub found: Origin,
}

/// What became of a finding when its script was run again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reproduction {
    /// The same violation, and when it is seen; nothing if it is gone.
    pub same: Option<(Violation, Seen)>,
    /// What else broke on the way, each signature once.
    pub others: Vec<Violation>,
    /// How the replay went. A script that was made under another profile may have steps that are not enabled.
    pub replayed: Replayed,
}

impl Finding {
    /// What an explorer found, ready to be kept. Nothing if the labels are not protocol steps of the cell.
    #[must_use]
    pub fn new(found: &Found<Step>, profile: Profile, scope: Scope, explorer: &str, seed: u64) -> Option<Self> {
        Some(Self {
            schema: SCHEMA.to_owned(),
            version: VERSION,
            pagefence: env!("CARGO_PKG_VERSION").to_owned(),
            signature: found.signature.try_into().ok()?,
            profile,
            scope,
            script: found.steps.clone(),
            threads: None,
            seen: if found.at_rest { Seen::Rest } else { Seen::Step },
            minimised: false,
            violation: found.violation.clone(),
            found: Origin { explorer: explorer.to_owned(), seed, walk: found.walk, count: found.count },
        })
    }

    /// Where it was found: the scope, or the model and its slice.
    #[must_use]
    pub fn place(&self) -> String {
        let scope = || self.scope.name.clone();
        self.threads.as_ref().map_or_else(scope, |threads| format!("{}/{}", threads.model, threads.slice))
    }

    /// What threads have shown after `script`.
    #[must_use]
    pub fn of_threads(
        signature: Words,
        violation: Violation,
        profile: Profile,
        scope: Scope,
        script: Vec<Step>,
        threads: Threads,
    ) -> Self {
        let found = Origin { explorer: threads.hint.engine.clone(), seed: threads.hint.seed, walk: None, count: 1 };
        Self {
            schema: SCHEMA.to_owned(),
            version: VERSION,
            pagefence: env!("CARGO_PKG_VERSION").to_owned(),
            signature,
            profile,
            scope,
            script,
            threads: Some(threads),
            seen: Seen::Step,
            minimised: true,
            violation,
            found,
        }
    }

    /// The world that it happened in.
    #[must_use]
    pub fn config(&self) -> Config {
        Config { switches: self.profile.switches, scope: self.scope.clone() }
    }

    /// The same violation with the smallest script. Nothing if the script does not show it, or not without threads.
    #[must_use]
    pub fn minimise(&self) -> Option<Self> {
        if self.threads.is_some() {
            return None;
        }
        let serving = Serving::new(self.config());
        let options = MinimiseOptions { tail: Tail::Drain { bound: DRAIN_BOUND }, ..MinimiseOptions::default() };
        let Minimised { steps, violation, .. } = minimise(&serving, &self.script, &self.signature.into(), &options)?;
        let mut small = Self { script: steps, violation, minimised: true, ..self.clone() };
        (small.violation, small.seen) = small.reproduce(self.profile.switches).same?;
        Some(small)
    }

    /// Runs the script again, under these switches, with a drain after it.
    #[must_use]
    pub fn reproduce(&self, switches: Switches) -> Reproduction {
        let serving = Serving::new(Config { switches, scope: self.scope.clone() });
        let signature = Signature::from(self.signature);
        let mut same = None;
        let mut others: Vec<Violation> = Vec::new();
        let replayed = replay(&serving, &self.script, Tail::Drain { bound: DRAIN_BOUND }, |moment| {
            let seen = match &moment {
                Moment::Step { index: Some(_), .. } | Moment::Skipped { .. } => Seen::Step,
                Moment::Step { index: None, .. } => Seen::Drain,
                Moment::Rest { .. } => Seen::Rest,
            };
            for violation in moment.violations() {
                let what = Signature::from(violation);
                if what == signature {
                    same = Some((violation.clone(), seen));
                    return ControlFlow::Break(());
                }
                if !others.iter().any(|other| Signature::from(other) == what) {
                    others.push(violation.clone());
                }
            }
            ControlFlow::Continue(())
        });
        Reproduction { same, others, replayed }
    }

    /// The name of its file: what is wrong, and a short name of the signature, the switches and the scope, so that
    /// one finding always goes to one file and two never share one.
    #[must_use]
    pub fn file_name(&self) -> String {
        let threads = self.threads.as_ref().map_or_else(String::new, |threads| format!("{}/", threads.model));
        let mut text = format!("{threads}{}|{}|", self.signature, self.scope.name);
        for switch in self.profile.switches.iter() {
            text.push_str(switch.name());
            text.push(' ');
        }
        format!("{}-{:08x}.json", self.signature.kind, fnv(&text))
    }

    /// The finding as JSON.
    ///
    /// # Panics
    /// When the violation was replaced by one of another protocol.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut json = serde_json::to_string_pretty(self).expect("a finding has only string keys and known labels");
        json.push('\n');
        json
    }

    /// Reads a finding.
    ///
    /// # Errors
    /// When the file can't be read, is too large, is no finding, is of a version that this build doesn't read, or says
    /// what can't be.
    pub fn load(path: &Path) -> Result<Self, InputError> {
        let file = path.display().to_string();
        Self::parse(&file, &read_bytes(path, MAX_FILE)?)
    }

    /// Reads a finding from the content of `file`.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn parse(file: &str, content: &[u8]) -> Result<Self, InputError> {
        let fail = |problem: &str| InputError::new(file, None, problem);
        if content.trim_ascii().is_empty() {
            return Err(fail("is empty, not a finding"));
        }
        // What it claims to be comes first: a file of another version may differ in everything else.
        let head: Head = serde_json::from_slice(content).map_err(|error| json_error(file, &error))?;
        if head.schema.as_deref() != Some(SCHEMA) {
            return Err(fail("is not a finding: it has no `\"schema\": \"pagefence-finding\"`"));
        }
        if head.version != Some(VERSION) {
            let found = head.version.map_or_else(|| "no version".to_owned(), |version| format!("version {version}"));
            return Err(fail(&format!("is a finding of {found}; this pagefence reads version {VERSION}")));
        }
        let finding: Self = serde_json::from_slice(content).map_err(|error| json_error(file, &error))?;
        finding.scope.validate().map_err(|error| fail(&error.to_string()))?;
        if finding.script.len() > MAX_SCRIPT {
            return Err(fail(&format!(
                "has a script of {} steps; at most {MAX_SCRIPT} are read",
                finding.script.len()
            )));
        }
        if Signature::from(&finding.violation) != Signature::from(finding.signature) {
            return Err(fail("contradicts itself: the signature is not that of the violation"));
        }
        Ok(finding)
    }
}

/// What a file claims to be.
#[derive(Deserialize)]
struct Head {
    #[serde(default)]
    schema: Option<String>,
    #[serde(default)]
    version: Option<u64>,
}

/// What serde_json says, with its line where ours goes.
fn json_error(file: &str, error: &serde_json::Error) -> InputError {
    let text = error.to_string();
    let message = text.rsplit_once(" at line ").map_or(text.as_str(), |(message, _)| message);
    InputError::new(file, Some(error.line().max(1)), format!("{message} (column {})", error.column()))
}

/// FNV-1a, folded to 32 bits: the file name of a finding must never change, whatever our other hashes do.
fn fnv(text: &str) -> u32 {
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    (hash >> 32) as u32 ^ hash as u32
}

#[cfg(test)]
#[path = "finding_tests.rs"]
mod tests;
