//! Races of the cases: the jobs that try one on a profile, and what came of them.

use crate::finding::keep;
use crate::job::{Ending, Engine, Job, JobError, Met, Report};
use crate::model::{self, Slice};
use crate::shrink::follow_on;
use pagefence::cases::{Case, Expected, Pattern, Race, Row, Trial, Verdict};
use pagefence::cell::Profile;
use pagefence::explore::Schedule;

/// How much is tried.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// The seed of what is random.
    pub seed: u64,
    /// Executions of an engine until something that must be found counts as missing.
    pub found: u64,
    /// Executions of an engine until something that must not be found counts as not found.
    pub held: u64,
}

/// The jobs of a trial: a slice is tried by loom and by shuttle, a whole cell by shuttle.
///
/// # Errors
/// When there is no such place.
pub fn jobs(trial: &Trial<'_>, effort: &Effort) -> Result<Vec<Job>, JobError> {
    let (model, slice) = place(trial.race)?;
    let is_whole = model::find(model).is_some_and(|model| model.wholes.iter().any(|whole| whole.name == slice.name));
    let engines = if is_whole { &[Engine::Shuttle][..] } else { &[Engine::LOOM, Engine::Shuttle] };
    let job = |engine: &Engine| Job {
        model: model.to_owned(),
        slice: slice.name.clone(),
        profile: trial.profile.clone(),
        engine: *engine,
        seed: effort.seed,
        executions: if trial.expected == Expected::Found { effort.found } else { effort.held },
        milliseconds: None,
        until: Some(trial.race.pattern(trial.case).clone()),
    };
    Ok(engines.iter().map(job).collect())
}

fn place(race: &Race) -> Result<(&str, &'static Slice), JobError> {
    let (model, slice) = race.model_and_slice().unwrap_or((&race.place, ""));
    let unknown = || JobError::NoSlice { model: model.to_owned(), slice: slice.to_owned() };
    Ok((model, model::slice(model, slice).ok_or_else(unknown)?))
}

/// What the reports of a trial's [`jobs`] came to.
///
/// # Errors
/// When there is no such place, or an engine gave up: that is neither a pass nor a finding.
pub fn row(trial: &Trial<'_>, reports: &[Report]) -> Result<Row, JobError> {
    for report in reports {
        if let Ending::Failed(why) = &report.ending {
            let (engine, slice, why) = (report.job.engine, report.job.slice.clone(), why.clone());
            return Err(JobError::GaveUp { engine, slice, why });
        }
    }
    let pattern = trial.race.pattern(trial.case);
    let shown = |report: &&Report| met(report, pattern).is_some();
    let by: Vec<String> = reports.iter().filter(shown).map(|report| report.job.engine.name().to_owned()).collect();
    let first = reports.iter().find_map(|report| Some((&report.job, met(report, pattern)?)));
    let slice = place(trial.race)?.1;
    // Following and shrinking takes a while, and only what nobody expected is drawn.
    let unexpected = first.filter(|_| trial.expected != Expected::Found);
    Ok(Row {
        case: trial.case.id.clone(),
        profile: trial.profile.name.clone(),
        scope: trial.race.place.clone(),
        expected: trial.expected,
        verdict: Verdict::of(trial.expected, !by.is_empty()),
        by,
        seconds: reports.iter().map(|report| report.milliseconds as f64 / 1e3).sum(),
        closed: reports.iter().any(|report| report.ending == Ending::Exhausted),
        replayed: false,
        finding: unexpected.map(|(job, met)| Box::new(keep(job, slice, met))),
    })
}

fn met<'a>(report: &'a Report, pattern: &Pattern) -> Option<&'a Met> {
    report.met.iter().find(|met| pattern.matches(&met.signature))
}

/// Whether the schedule that a race carries shows it under `profile`. `None` when it carries none, or when the engine gave up.
///
/// # Errors
/// When there is no such place.
pub fn schedule_shows(case: &Case, race: &Race, profile: &Profile) -> Result<Option<bool>, JobError> {
    let stage = place(race)?.1.stage(profile.switches);
    let followed = race.schedule.as_ref().and_then(|stretches| follow_on(&stage, &Schedule::from(stretches)));
    Ok(followed.map(|followed| race.pattern(case).is_among(&followed.violations)))
}
