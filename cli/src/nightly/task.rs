//! What there is to do in a night, in pieces that are done whole or not at all.

use super::budgets::Budgets;
use clap::ValueEnum;
use pagefence::cases::Suite;
use pagefence::cell::Profile;
use pagefence::library;
use pagefence_harness::targets::Target;
use pagefence_models::{Engine, all};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A kind of task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Area {
    /// Every case on the profiles that it names.
    Cases,
    /// Every scope searched to its end.
    Prove,
    /// Versions hunted for what no case declares.
    Hunt,
    /// The cell on threads.
    Models,
    /// Which rejection reaches which stage.
    Atlas,
    /// Inputs that were kept.
    Corpus,
    /// libFuzzer.
    Fuzz,
}

impl Area {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cases => "cases",
            Self::Prove => "prove",
            Self::Hunt => "hunt",
            Self::Models => "models",
            Self::Atlas => "atlas",
            Self::Corpus => "corpus",
            Self::Fuzz => "fuzz",
        }
    }

    /// Whether a task of it goes on for as long as it may: such a one is left out when the night is over.
    pub const fn is_elastic(self) -> bool {
        matches!(self, Self::Hunt | Self::Models | Self::Fuzz)
    }
}

/// One piece of work. Its place names it: a profile and a scope, a model and a slice.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// Of which kind.
    pub area: Area,
    /// On which profile, where it is about one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub profile: String,
    /// A case, scope, `model/slice` or target.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub place: String,
    /// By which engine, where there are several.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub engine: String,
}

impl fmt::Display for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.area.name())?;
        for part in [&self.profile, &self.place, &self.engine].into_iter().filter(|part| !part.is_empty()) {
            write!(f, "/{part}")?;
        }
        Ok(())
    }
}

impl Task {
    fn new(area: Area, profile: &str, place: impl Into<String>) -> Self {
        Self { area, profile: profile.to_owned(), place: place.into(), engine: String::new() }
    }

    /// The name of its file.
    pub fn file_name(&self) -> String {
        let name: String = self.to_string().chars().map(|c| if c == '/' || c == ' ' { '+' } else { c }).collect();
        format!("{name}.json")
    }

    /// Which model, slice and engine, of a task of the models.
    pub fn slice_and_engine(&self) -> Option<(&str, &str, Engine)> {
        let (model, slice) = self.place.split_once('/')?;
        let engine = ENGINES.into_iter().find(|engine| engine.name() == self.engine)?;
        Some((model, slice, engine))
    }
}

const ENGINES: [Engine; 2] = [Engine::LOOM, Engine::Shuttle];

/// Everything that these budgets ask for, what takes longest first.
pub fn plan(budgets: &Budgets) -> Vec<Task> {
    let presets: Vec<Profile> = Profile::presets().map(|(profile, _)| profile).collect();
    let scopes: Vec<String> = library::scopes().map(|scope| scope.name).collect();
    let mut tasks = Vec::new();
    if let Some(fuzz) = &budgets.fuzz {
        tasks.extend(fuzz.targets.iter().map(|target| Task::new(Area::Fuzz, "", target.name())));
    }
    if let Some(prove) = &budgets.prove {
        tasks.extend(scopes.iter().map(|scope| Task::new(Area::Prove, &prove.profile, scope)));
    }
    if budgets.cases.is_some() {
        tasks.extend(Suite::shipped().cases().iter().map(|case| Task::new(Area::Cases, "", &case.id)));
    }
    if budgets.corpus.is_some() {
        tasks.extend(Target::ALL.map(|target| Task::new(Area::Corpus, "", target.name())));
    }
    if budgets.atlas.is_some() {
        tasks.extend(presets.iter().map(|profile| Task::new(Area::Atlas, &profile.name, "")));
    }
    if let Some(models) = &budgets.models {
        models.profiles.iter().for_each(|profile| race(profile, &mut tasks));
    }
    if budgets.hunt.is_some() {
        let versions = presets.iter().filter(|profile| profile.name != "reference");
        let pairs = versions.flat_map(|profile| scopes.iter().map(move |scope| (profile, scope)));
        tasks.extend(pairs.map(|(profile, scope)| Task::new(Area::Hunt, &profile.name, scope)));
    }
    tasks
}

/// Slices under both engines, whole cells under shuttle.
fn race(profile: &str, tasks: &mut Vec<Task>) {
    for model in all() {
        let slices = model.slices.iter().flat_map(|slice| ENGINES.map(|engine| (slice, engine)));
        let wholes = model.wholes.iter().map(|whole| (whole, Engine::Shuttle));
        tasks.extend(slices.chain(wholes).map(|(slice, engine)| Task {
            engine: engine.name().to_owned(),
            ..Task::new(Area::Models, profile, format!("{}/{}", model.name, slice.name))
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_task_has_a_file_of_its_own_and_every_area_some() {
        let tasks = plan(&Budgets::shipped(false).unwrap());
        let files: BTreeSet<String> = tasks.iter().map(Task::file_name).collect();
        assert_eq!(files.len(), tasks.len());
        assert!(files.iter().all(|file| !file.contains(['/', ' '])));
        for area in Area::value_variants() {
            assert!(tasks.iter().any(|task| task.area == *area), "{area:?}");
        }
        for task in tasks.iter().filter(|task| task.area == Area::Models) {
            let (model, slice, _) = task.slice_and_engine().unwrap();
            assert!(pagefence_models::model::slice(model, slice).is_some(), "{task}");
        }
    }
}
