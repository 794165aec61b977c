//! How much of what, from a TOML file.

use super::task::Area;
use crate::time::Time;
use anyhow::{Context as _, Result, bail};
use pagefence::input::read_text;
use pagefence::library;
use pagefence_harness::targets::Target;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The budgets of a night. What has no section is left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Budgets {
    /// After so long nothing is begun that has a time of its own; what must be complete is completed.
    pub limit: Time,
    /// The cases.
    pub cases: Option<Everything>,
    /// Proofs.
    pub prove: Option<Prove>,
    /// Hunts of versions.
    pub hunt: Option<Hunt>,
    /// The cell on threads.
    pub models: Option<Models>,
    /// The rejection atlas.
    pub atlas: Option<Atlas>,
    /// The corpora.
    pub corpus: Option<Everything>,
    /// libFuzzer.
    pub fuzz: Option<Fuzz>,
}

/// What has no budget: it is run in full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Everything {}

/// Every shipped scope, to its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prove {
    /// On this profile.
    pub profile: String,
    /// A scope with more states is not proven.
    pub states: u64,
}

/// Every version in every scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hunt {
    /// The time of each pair.
    pub each: Time,
}

/// Every slice and whole cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Models {
    /// On these profiles.
    pub profiles: Vec<String>,
    /// The time of each under each engine.
    pub each: Time,
}

/// The rejection atlas of every profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Atlas {
    /// Walks for each producer in each scope that plants a rejection.
    pub walks: u64,
}

/// libFuzzer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fuzz {
    /// The time of each target.
    pub each: Time,
    /// Only these.
    #[serde(default = "all", with = "names")]
    pub targets: Vec<Target>,
}

fn all() -> Vec<Target> {
    Target::ALL.to_vec()
}

mod names {
    use pagefence_harness::targets::Target;
    use serde::de::Error as _;
    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(targets: &[Target], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(targets.iter().map(|target| target.name()))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Target>, D::Error> {
        let names = Vec::<String>::deserialize(from)?;
        names.iter().map(|name| name.parse().map_err(D::Error::custom)).collect()
    }
}

/// The largest file.
const MAX_FILE: u64 = 1 << 16;

impl Budgets {
    /// What is shipped: two hours of two cores, or ten minutes.
    pub fn shipped(quick: bool) -> Result<Self> {
        let (name, text) = match quick {
            false => ("budgets/nightly.toml", include_str!("../../budgets/nightly.toml")),
            true => ("budgets/quick.toml", include_str!("../../budgets/quick.toml")),
        };
        Self::parse(name, text)
    }

    /// Reads a file.
    pub fn load(path: &Path) -> Result<Self> {
        Self::parse(&path.display().to_string(), &read_text(path, MAX_FILE)?)
    }

    /// Leaves a kind of task out.
    pub fn skip(&mut self, area: Area) {
        match area {
            Area::Cases => self.cases = None,
            Area::Prove => self.prove = None,
            Area::Hunt => self.hunt = None,
            Area::Models => self.models = None,
            Area::Atlas => self.atlas = None,
            Area::Corpus => self.corpus = None,
            Area::Fuzz => self.fuzz = None,
        }
    }

    fn parse(file: &str, text: &str) -> Result<Self> {
        let budgets: Self = toml::from_str(text).map_err(|error| anyhow::anyhow!("{file}: {}", error.message()))?;
        let named = budgets.models.iter().flat_map(|models| &models.profiles);
        for profile in named.chain(budgets.prove.iter().map(|prove| &prove.profile)) {
            library::profile(profile, &[]).with_context(|| file.to_owned())?;
        }
        if budgets.fuzz.as_ref().is_some_and(|fuzz| fuzz.each.0.as_secs() == 0) {
            bail!("{file}: fuzz.each is less than a second, and libFuzzer counts in seconds");
        }
        Ok(budgets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shipped_is_read_and_written_alike() {
        for quick in [false, true] {
            let budgets = Budgets::shipped(quick).unwrap();
            let text = toml::to_string(&budgets).unwrap();
            assert_eq!(Budgets::parse("again", &text).unwrap(), budgets);
            assert!(budgets.fuzz.is_some_and(|fuzz| fuzz.targets == Target::ALL));
        }
    }

    #[test]
    fn what_is_wrong_is_said_in_a_line_that_names_the_file() {
        let wrong = [
            ("limit = \"2h\"\nhunts = 3", "hunts"),
            ("limit = \"2 hours\"", "30s"),
            ("limit = \"1h\"\nfuzz = { each = \"1m\", targets = [\"scripts\"] }", "there is no target `scripts`"),
            ("limit = \"1h\"\nfuzz = { each = \"1ms\" }", "less than a second"),
            ("limit = \"1h\"\nmodels = { each = \"1s\", profiles = [\"sglang-0.5.2\"] }", "sglang-0.5.20"),
        ];
        for (text, says) in wrong {
            let error = format!("{:#}", Budgets::parse("night.toml", text).unwrap_err());
            assert!(error.starts_with("night.toml") && error.contains(says) && !error.contains('\n'), "{error}");
        }
    }
}
