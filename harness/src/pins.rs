//! What the environment holds fixed while a fuzzer runs.

use crate::targets::place;
use crate::worlds::Worlds;
use pagefence::cases::{Case, Suite};
use pagefence::explore::{Finding, Signature};
use pagefence::lifetime::Violation;
use std::path::Path;
use std::sync::LazyLock;

/// What the environment holds fixed, whatever an input says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pins {
    /// The profile.
    pub profile: Option<u8>,
    /// The scope.
    pub scope: Option<u8>,
    /// The slice or whole cell, of the target `schedule`.
    pub place: Option<u8>,
    /// A case: to meet its violation is a crash, and nothing else is. For measuring how long that takes.
    pub goal: Option<Case>,
    /// Findings to pass over, as profile and signature: what a run has crashed on must not stop it again.
    pub pass: Vec<(String, Signature)>,
}

static PINS: LazyLock<Pins> = LazyLock::new(Pins::from_environment);

/// The pins of this process, read once.
pub(crate) fn pins() -> &'static Pins {
    &PINS
}

impl Pins {
    /// Reads `PAGEFENCE_PROFILE`, `PAGEFENCE_SCOPE`, `PAGEFENCE_PLACE`, `PAGEFENCE_GOAL`, and the findings in the folder `PAGEFENCE_PASS`.
    ///
    /// # Panics
    /// When one of them names what does not exist: a fuzzer must not run for an hour on something else.
    #[must_use]
    pub fn from_environment() -> Self {
        let worlds = Worlds::shipped();
        let pin = |name: &str, find: &dyn Fn(&str) -> Option<u8>| {
            let value = std::env::var(name).ok()?;
            Some(find(&value).unwrap_or_else(|| panic!("{name}: there is no `{value}`")))
        };
        Self {
            profile: pin("PAGEFENCE_PROFILE", &|name| worlds.profile(name)),
            scope: pin("PAGEFENCE_SCOPE", &|name| worlds.scope(name)),
            place: pin("PAGEFENCE_PLACE", &place),
            goal: std::env::var("PAGEFENCE_GOAL").ok().map(|id| case(&id)),
            pass: std::env::var("PAGEFENCE_PASS").map(|folder| passed(Path::new(&folder))).unwrap_or_default(),
        }
    }

    /// Whether a violation on `profile` that `case` declares, or none does, is what the fuzzer is to stop at.
    #[must_use]
    pub fn is_crash(&self, case: Option<&str>, profile: &str, violation: &Violation) -> bool {
        match &self.goal {
            // What it leads to is easier to meet than the violation itself.
            Some(goal) => {
                let own = || goal.patterns().any(|own| own.is_among(std::slice::from_ref(violation)));
                case == Some(goal.id.as_str()) && own()
            }
            None => case.is_none() && !self.passes(profile, &Signature::from(violation)),
        }
    }

    fn passes(&self, profile: &str, signature: &Signature) -> bool {
        self.pass.iter().any(|(name, passed)| name == profile && passed == signature)
    }
}

fn case(id: &str) -> Case {
    let known = Suite::shipped().cases().iter().find(|case| case.id == id).cloned();
    known.unwrap_or_else(|| panic!("PAGEFENCE_GOAL: there is no case `{id}`"))
}

/// The findings in a folder.
fn passed(folder: &Path) -> Vec<(String, Signature)> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.flatten().map(|entry| entry.path());
    let findings = paths.filter(|path| path.extension().is_some_and(|extension| extension == "json"));
    let load = |path: std::path::PathBuf| Finding::load(&path).unwrap_or_else(|error| panic!("{error}"));
    findings.map(load).map(|finding| (finding.profile.name, Signature::from(finding.signature))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pagefence::cell::Site;
    use pagefence::lifetime::{Kind, Label, Life};

    #[test]
    fn what_is_passed_over_is_no_crash_on_its_own_profile_alone() {
        let violation = Violation::bare(Kind::Stuck, Life::first(0), Label::from(Site::Quiet));
        let pass = vec![("reference".to_owned(), Signature::from(&violation))];
        let pins = Pins { pass, ..Pins::default() };
        assert!(!pins.is_crash(None, "reference", &violation));
        assert!(pins.is_crash(None, "sglang-0.5.23", &violation));
        assert!(!pins.is_crash(Some("S14"), "sglang-0.5.23", &violation), "a case tells of it");
        let goal = Pins { goal: Some(case("S14")), ..pins };
        let own = Violation { kind: goal.goal.as_ref().unwrap().violation.kinds[0], ..violation.clone() };
        let own = Violation { started: Some(Site::WorkerPost.into()), broke: Site::Land.into(), ..own };
        let own = Violation { released: Some(Site::DecodeReleaseNow.into()), ..own };
        assert!(goal.is_crash(Some("S14"), "reference", &own) && !goal.is_crash(None, "reference", &own));
        assert!(!goal.is_crash(Some("S14"), "reference", &violation), "that is what it leads to");
    }
}
