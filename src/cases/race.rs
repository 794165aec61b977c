//! A fault between two accesses: where threads show it, and on which profiles.

use super::case::Case;
use super::check::Expected;
use super::pattern::Pattern;
use super::suite::Suite;
use crate::cell::Profile;
use crate::explore::Stretches;
use crate::input::InputError;
use serde::{Deserialize, Serialize};

/// Where threads show the fault of a case. A step of the explorers is atomic, so a case whose fault lives inside a step has
/// only these; one that lives between steps may have some besides its scope.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Race {
    /// A model and a slice or whole cell of it: `admission/handshake-meets-sender`.
    pub place: String,
    /// What must be found there. Left out: the violation of the case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub violation: Option<Pattern>,
    /// Profiles on which it must be found.
    pub found: Vec<String>,
    /// Profiles on which it must not be found.
    pub held: Vec<String>,
    /// The shortest schedule known that shows it on the first profile of `found`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<Stretches>,
}

/// A race on one of the profiles that it names.
#[derive(Clone, Debug)]
pub struct Trial<'a> {
    /// The case.
    pub case: &'a Case,
    /// The race.
    pub race: &'a Race,
    /// What the race says of the profile.
    pub expected: Expected,
    /// The profile.
    pub profile: Profile,
}

impl Race {
    /// What must be found.
    #[must_use]
    pub fn pattern<'a>(&'a self, case: &'a Case) -> &'a Pattern {
        self.violation.as_ref().unwrap_or(&case.violation)
    }

    /// The model, and the slice of it.
    ///
    /// # Errors
    /// When the place is not of the form `model/slice`.
    pub fn model_and_slice(&self) -> Result<(&str, &str), String> {
        self.place.split_once('/').ok_or_else(|| format!("`{}` is no place: `model/slice`", self.place))
    }

    pub(super) fn validate(&self) -> Result<(), String> {
        self.model_and_slice()?;
        for words in self.found.iter().chain(&self.held) {
            Case::profile(words).map_err(|error| error.to_string())?;
        }
        if self.found.is_empty() {
            return Err(format!("a race that no profile shows is not one: `{}`", self.place));
        }
        Ok(())
    }
}

impl Suite {
    /// Every race of the cases that `chosen` picks, on every profile that it names.
    ///
    /// # Errors
    /// When a race names a profile that does not exist; shipped ones do not.
    pub fn trials(&self, chosen: impl Fn(&Case) -> bool) -> Result<Vec<Trial<'_>>, InputError> {
        let mut trials = Vec::new();
        for case in self.cases().iter().filter(|case| chosen(case)) {
            for race in &case.races {
                let named = [(&race.found, Expected::Found), (&race.held, Expected::Held)];
                for (words, expected) in
                    named.into_iter().flat_map(|(names, expected)| names.iter().map(move |words| (words, expected)))
                {
                    trials.push(Trial { case, race, expected, profile: Case::profile(words)? });
                }
            }
        }
        Ok(trials)
    }
}
