//! A case file.

use super::pattern::{Pattern, names};
use super::race::Race;
use crate::cell::{Config, Producer, Profile, Scope, Site, Step};
use crate::explore::{DRAIN_BOUND, Finding, Serving, Tail, replay};
use crate::input::InputError;
use crate::library::{self, toml_file};
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;

/// Where the fault is known from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Status {
    /// The public record.
    #[serde(rename = "public")]
    Public,
    /// The explorers found it in the model; nobody has seen it in the engine.
    #[serde(rename = "model finding, not confirmed")]
    ModelFinding,
}

/// One fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// What it is called: `S14`, `S01-kv-budget`, `M03`.
    pub id: String,
    /// The fault, in a line.
    pub title: String,
    /// Where it is known from.
    pub status: Status,
    /// Issues, pull requests, protocol sections.
    pub references: Vec<String>,
    /// What happens, in the protocol's steps, so that a reader can check it.
    pub story: String,
    /// The scope that shows it: a shipped one. Empty where it takes threads to see it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub scope: String,
    /// Runs once with each of these as the producer of the scope's planted rejection.
    #[serde(default)]
    pub producers: Vec<Producer>,
    /// A smallest script that shows it on the first profile of `found`, and on no profile that stops it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub script: Vec<Step>,
    /// What must be found.
    pub violation: Pattern,
    /// What else it leads to; a hunt that meets these on a profile of `found` has met this case.
    #[serde(default)]
    pub consequences: Vec<Pattern>,
    /// Profiles on which it must be found in its scope; settings may follow a name: `reference skip_acks=off`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub found: Vec<String>,
    /// Profiles on which it must not be found there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held: Vec<String>,
    /// Switches that stop it when all of them are set on the first profile of `found`: `door`, `poison`.
    #[serde(default)]
    pub stopped_by: Vec<String>,
    /// Where threads show it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub races: Vec<Race>,
}

/// What is wrong with a case file beyond its form.
#[derive(Debug, thiserror::Error)]
#[error("case `{case}`: {problem}")]
pub struct CaseError {
    /// Which case.
    pub case: String,
    /// What is wrong with it.
    pub problem: String,
}

impl Case {
    /// The case that `text`, the content of a TOML file, describes; `file` is what errors call it.
    ///
    /// # Errors
    /// In one line: what it names and does not exist, or the nearest valid key.
    pub fn parse(file: &str, text: &str) -> Result<Self, InputError> {
        let case: Self = toml_file::parse(file, text)?;
        case.validate().map_err(|error| InputError::new(file, None, error.to_string()))?;
        Ok(case)
    }

    /// A profile as a case names it: a preset, and settings after it.
    ///
    /// # Errors
    /// When the preset or a setting does not exist.
    pub fn profile(words: &str) -> Result<Profile, InputError> {
        let mut words = words.split_whitespace();
        let name = words.next().unwrap_or_default();
        let settings: Vec<String> = words.map(str::to_owned).collect();
        library::profile(name, &settings)
    }

    /// The first profile that must show the fault, with everything on that stops it; its name says what was turned on:
    /// `sglang-0.5.11 + door`.
    ///
    /// # Errors
    /// When a profile or switch does not exist. `None` when the case names nothing that stops it.
    pub fn stopped(&self) -> Result<Option<Profile>, InputError> {
        let (Some(first), false) = (self.found.first(), self.stopped_by.is_empty()) else { return Ok(None) };
        let settings: Vec<String> = self.stopped_by.iter().map(|switch| format!("{switch}=on")).collect();
        let stopped = Self::profile(&format!("{first} {}", settings.join(" ")))?;
        // `reference skip_acks=off skip_acks=on` would be true and say nothing.
        Ok(Some(Profile { name: format!("{first} + {}", self.stopped_by.join(" + ")), ..stopped }))
    }

    /// The scopes that it runs in: the one that it names, once a producer where it names producers; none where it takes
    /// threads to see it.
    ///
    /// # Errors
    /// When there is no such scope.
    pub fn scopes(&self) -> Result<Vec<Scope>, InputError> {
        if self.scope.is_empty() {
            return Ok(Vec::new());
        }
        let scope = library::scope(&self.scope)?;
        if self.producers.is_empty() {
            return Ok(vec![scope]);
        }
        Ok(self.producers.iter().map(|producer| scope.planted_by(*producer)).collect())
    }

    /// Whether the script shows the violation under `profile` in `scope`, one of [`scopes`](Self::scopes), during its
    /// steps or while the cell drains after them. `None` when the case has no script.
    #[must_use]
    pub fn script_shows(&self, profile: &Profile, scope: &Scope) -> Option<bool> {
        if self.script.is_empty() {
            return None;
        }
        let serving = Serving::new(Config { switches: profile.switches, scope: scope.clone() });
        let mut shown = false;
        replay(&serving, &self.script, Tail::Drain { bound: DRAIN_BOUND }, |moment| {
            shown |= self.violation.is_among(moment.violations());
            ControlFlow::Continue(())
        });
        Some(shown)
    }

    /// Every pattern that is a violation of this case, in its scope or where threads race.
    pub fn patterns(&self) -> impl Iterator<Item = &Pattern> {
        std::iter::once(&self.violation).chain(self.races.iter().filter_map(|race| race.violation.as_ref()))
    }

    /// Whether a finding is a violation or a consequence of this case. What is judged at rest (stuck, leaked) says little of
    /// how it came about, so it is only told of where the case was made, and in the scopes that its pattern names.
    pub(super) fn tells(&self, finding: &Finding) -> bool {
        let at_rest = matches!(finding.signature.broke, Site::Quiet | Site::Final);
        let anywhere = !at_rest || self.is_at_home(finding);
        let mut patterns = self.patterns().chain(&self.consequences);
        patterns.any(|pattern| {
            (anywhere || !pattern.within.is_empty()) && pattern.matches_in(&finding.scope.name, &finding.signature)
        })
    }

    /// Whether a finding was made in the scope of this case, or where it races.
    fn is_at_home(&self, finding: &Finding) -> bool {
        let place = finding.place();
        names(&self.scope, &finding.scope.name) || self.races.iter().any(|race| race.place == place)
    }

    /// The profiles that show this case where `finding` was made. What steps show, threads show too, wherever they race;
    /// what only threads show is told of in its own place alone, and where a pattern that fits names the scope.
    pub(super) fn shown_on(&self, finding: &Finding) -> impl Iterator<Item = &str> {
        let place = finding.place();
        let within = |pattern: &Pattern| {
            !pattern.within.is_empty() && pattern.matches_in(&finding.scope.name, &finding.signature)
        };
        let named = finding.threads.is_some() && self.patterns().chain(&self.consequences).any(within);
        let races = self.races.iter().filter(move |race| named || race.place == place).flat_map(|race| &race.found);
        self.found.iter().chain(races).map(String::as_str)
    }

    /// How far off a finding is: its own violation comes before a consequence, its own place before another, its own
    /// producers of a rejection before others.
    pub(super) fn distance(&self, finding: &Finding) -> (bool, bool, bool) {
        let own = self.patterns().any(|own| own.matches(&finding.signature));
        let produced = finding.scope.name.rsplit_once(" by ").is_none_or(|(_, by)| self.produces(by));
        (!own, !self.is_at_home(finding), !produced)
    }

    fn produces(&self, by: &str) -> bool {
        self.producers.iter().any(|producer| producer.name() == by)
    }

    /// Checks what the form of the file does not: that everything it names exists.
    ///
    /// # Errors
    /// Names the first thing that does not.
    pub fn validate(&self) -> Result<(), CaseError> {
        let fail = |problem: String| CaseError { case: self.id.clone(), problem };
        for words in self.found.iter().chain(&self.held) {
            Self::profile(words).map_err(|error| fail(error.to_string()))?;
        }
        self.stopped().map_err(|error| fail(error.to_string()))?;
        let scopes = self.scopes().map_err(|error| fail(error.to_string()))?;
        let plants = scopes.iter().all(Scope::plants_a_rejection);
        if !self.producers.is_empty() && !plants {
            return Err(fail(format!("scope `{}` plants no rejection for its producers", self.scope)));
        }
        for race in &self.races {
            race.validate().map_err(fail)?;
        }
        if self.found.is_empty() != self.scope.is_empty() {
            return Err(fail("a scope needs profiles that show the fault there, and they need a scope".to_owned()));
        }
        if self.found.is_empty() && self.races.is_empty() {
            return Err(fail("a fault that no profile shows is not a case".to_owned()));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::cases::Suite;
    use crate::cell::Profile;

    #[test]
    fn a_remedy_is_named_by_what_is_turned_on() {
        let suite = Suite::shipped();
        let stopped = |id| suite.cases().iter().find(|case| case.id == id).unwrap().stopped().unwrap().unwrap();
        assert_eq!(stopped("INCIDENT").name, "sglang-0.5.11 + door");
        let remedied = stopped("S23");
        assert_eq!(remedied.name, "reference skip_acks=off + skip_acks");
        assert_eq!(remedied.switches, Profile::reference().switches);
    }
}
