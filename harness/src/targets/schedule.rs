//! A schedule of threads through a slice or a whole cell: the input is the scheduler. What no case declares is a crash.

use super::{Crash, pins};
use crate::worlds::Worlds;
use arbitrary::{Arbitrary, Unstructured};
use pagefence::cases::Suite;
use pagefence::explore::{Finding, Words};
use pagefence_models::engine::priorities::{Priorities, prioritise};
use pagefence_models::engine::shuttle::Shuttle;
use pagefence_models::finding::as_met;
use pagefence_models::{Engine, Job, Met, Slice, all, record};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

/// The most threads of a model.
const THREADS: usize = 16;
/// The most points at which the running thread falls behind: a bug of depth nine.
const CHANGES: usize = 8;

/// What a fuzzer chooses: where, and who goes first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ScheduleInput {
    /// Which profile, modulo how many there are.
    pub profile: u8,
    /// Which slice or whole cell, of all models in turn, modulo how many there are.
    pub place: u8,
    /// Who goes first, and where that changes.
    pub priorities: Priorities,
}

impl ScheduleInput {
    /// The input that these bytes are; what is missing is zero or left out.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self::arbitrary_take_rest(Unstructured::new(bytes)).unwrap_or_default()
    }

    /// The input in bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![self.profile, self.place];
        bytes.extend((0..THREADS).map(|thread| self.priorities.of.get(thread).copied().unwrap_or(0)));
        bytes.extend(self.priorities.changes.iter().flat_map(|change| change.to_le_bytes()));
        bytes
    }
}

impl<'a> Arbitrary<'a> for ScheduleInput {
    fn arbitrary(u: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
        let [profile, place] = <[u8; 2]>::arbitrary(u)?;
        let of = <[u8; THREADS]>::arbitrary(u)?.to_vec();
        let mut changes = Vec::new();
        while u.len() >= 2 && changes.len() < CHANGES {
            changes.push(u16::arbitrary(u)?);
        }
        Ok(Self { profile, place, priorities: Priorities { of, changes } })
    }
}

/// Every slice and whole cell, with the name of its model.
static PLACES: LazyLock<Vec<(&'static str, &'static Slice)>> = LazyLock::new(|| {
    let of = |model: &'static pagefence_models::Model| {
        model.slices.iter().chain(&model.wholes).map(move |slice| (model.name, slice))
    };
    all().iter().flat_map(of).collect()
});

/// Where `model/slice` is in the list of places.
pub(crate) fn place(name: &str) -> Option<u8> {
    let is_it = |(model, slice): &(&str, &Slice)| name.split_once('/') == Some((model, slice.name.as_str()));
    PLACES.iter().position(is_it).map(|at| at as u8)
}

static SUITE: LazyLock<Suite> = LazyLock::new(Suite::shipped);

/// What a schedule led to.
pub(crate) struct Race {
    /// Where, as a job of one execution.
    pub(crate) job: Job,
    pub(crate) slice: &'static Slice,
    /// What was violated, each signature once.
    pub(crate) met: Vec<Met>,
}

impl Race {
    /// What was met, as cases are asked about it.
    pub(crate) fn finding(&self, met: &Met) -> Finding {
        as_met(&self.job, self.slice, met)
    }
}

/// Runs the schedule that these bytes are.
pub(crate) fn run_schedule(bytes: &[u8]) -> Race {
    let input = ScheduleInput::from_bytes(bytes);
    let profiles = &Worlds::shipped().profiles;
    let profile = pins().profile.unwrap_or(input.profile);
    let profile = &profiles[usize::from(profile) % profiles.len()];
    let place = pins().place.unwrap_or(input.place);
    let (model, slice) = PLACES[usize::from(place) % PLACES.len()];
    let stage = slice.stage(profile.switches);
    let violations = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&violations);
    prioritise(&input.priorities, move || {
        *heard.lock().unwrap_or_else(PoisonError::into_inner) = stage.execute::<Shuttle>();
    });
    let violations = violations.lock().unwrap_or_else(PoisonError::into_inner);
    let job = Job {
        model: model.to_owned(),
        slice: slice.name.clone(),
        profile: profile.clone(),
        engine: Engine::Shuttle,
        seed: 0,
        executions: 1,
        milliseconds: None,
        until: None,
    };
    let mut met: Vec<Met> = Vec::new();
    for violation in violations.iter() {
        let Some(signature) = Words::of(violation) else { continue };
        if met.iter().all(|met| met.signature != signature) {
            let (violation, schedule) = (violation.clone(), record::schedule());
            met.push(Met { signature, violation, schedule, unordered: false, first: 1, count: 1, strategy: None });
        }
    }
    Race { job, slice, met }
}

/// Runs one schedule.
///
/// # Errors
/// A violation that no case declares; with a goal in the [environment](crate::Pins), the goal.
pub fn schedule(bytes: &[u8]) -> Result<(), Crash> {
    let race = run_schedule(bytes);
    for met in &race.met {
        let case = SUITE.declares(&race.finding(met)).map(|case| case.id.as_str());
        let profile = &race.job.profile.name;
        if pins().is_crash(case, profile, &met.violation) {
            let place = format!("{}/{}", race.job.model, race.slice.name);
            return Err(Crash::of(&met.violation, profile, &place, case));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_as_they_were() {
        let bytes: Vec<u8> = (0..30).collect();
        assert_eq!(ScheduleInput::from_bytes(&bytes).to_bytes(), bytes);
    }
}
