//! What threads have shown, as a [`Finding`] that can be kept, and the way back.

use crate::job::{Job, Met};
use crate::model::{self, Slice};
use crate::record;
use crate::shrink::{follow_on, shrink};
use crate::stage::Stage;
use pagefence::cell::{Config, Site, Switches, Watched};
use pagefence::explore::{Finding, Hint, Schedule, Signature, Threads, Words};
use pagefence::lifetime::{Event, Label, Violation};
use pagefence::report::{Act, Timeline, threaded_story};

/// A hash of the source that this was built from.
pub const SOURCE: &str = env!("PAGEFENCE_SOURCE");

/// Why a finding cannot be followed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// It needs no threads.
    #[error("this finding has no schedule of threads; `pagefence replay` runs it")]
    NoThreads,
    /// Its model is gone.
    #[error("this version has no slice `{slice}` in a model `{model}`")]
    NoSlice {
        /// The model.
        model: String,
        /// The slice.
        slice: String,
    },
    /// Its model has changed.
    #[error("`{model}/{slice}` has changed since: other threads, script or scope")]
    Changed {
        /// The model.
        model: String,
        /// The slice.
        slice: String,
    },
    /// The engine gave up.
    #[error("the schedule cannot be followed: the engine gave up")]
    GaveUp,
}

/// What following a finding's schedule led to.
#[derive(Clone, Debug)]
pub struct Replayed {
    /// The violation again; nothing if it is gone.
    pub same: Option<Violation>,
    /// What else broke.
    pub others: Vec<Words>,
    /// Where the run first does something else than the schedule says, counted from one; nothing if it never does.
    pub diverges: Option<usize>,
    /// What happened.
    pub timeline: Timeline,
}

/// What a job has met, with the schedule that it was met in.
#[must_use]
pub fn as_met(job: &Job, slice: &Slice, met: &Met) -> Finding {
    let strategy = met.strategy.as_ref().map(|strategy| format!(", {strategy}"));
    let engine = format!("{}{}", job.engine, strategy.unwrap_or_default());
    let threads = Threads {
        model: job.model.clone(),
        slice: job.slice.clone(),
        shifts: slice.shifts.clone(),
        schedule: met.schedule.clone(),
        unordered: met.unordered,
        hint: Hint { engine, seed: job.seed, execution: met.first, source: SOURCE.to_owned() },
    };
    Finding::of_threads(
        met.signature,
        met.violation.clone(),
        job.profile.clone(),
        slice.scope.clone(),
        slice.lead_up.clone(),
        threads,
    )
}

/// What a job has met, ready to be kept: its schedule with as few switches between threads as it still shows with.
///
/// What only loom saw keeps the schedule that loom had.
#[must_use]
pub fn keep(job: &Job, slice: &Slice, met: &Met) -> Finding {
    let mut finding = as_met(job, slice, met);
    let small = || shrink(&slice.stage(job.profile.switches), &met.schedule, met.signature.into());
    if let (false, Some(threads)) = (met.unordered, finding.threads.as_mut())
        && let Some(small) = small()
    {
        finding.violation = same(&small.violations, met.signature.into()).unwrap_or(finding.violation);
        threads.schedule = small.schedule;
    }
    finding
}

fn same(violations: &[Violation], signature: Signature) -> Option<Violation> {
    violations.iter().find(|violation| Signature::from(*violation) == signature).cloned()
}

/// Follows the schedule of `finding` under these switches, which need not be its own.
///
/// # Errors
/// When there is nothing to follow, or the model is not the one that it was found in.
pub fn replay(finding: &Finding, switches: Switches) -> Result<Replayed, ReplayError> {
    let threads = finding.threads.as_ref().ok_or(ReplayError::NoThreads)?;
    let (model, slice) = (threads.model.clone(), threads.slice.clone());
    let Some(known) = model::slice(&model, &slice) else {
        return Err(ReplayError::NoSlice { model, slice });
    };
    if known.shifts != threads.shifts || known.lead_up != finding.script || known.scope != finding.scope {
        return Err(ReplayError::Changed { model, slice });
    }
    let stage = known.stage(switches);
    let followed = follow_on(&stage, &threads.schedule).ok_or(ReplayError::GaveUp)?;
    let signature = Signature::from(finding.signature);
    let acts = acts(&stage, record::events());
    let config = Config { switches, scope: finding.scope.clone() };
    let mut timeline = threaded_story(&config, &finding.script, &acts, &followed.after, &signature);
    timeline.title = finding.signature.to_string();
    timeline.subtitle = vec![
        format!("model {model}/{slice}"),
        format!("found by {}, seed {}", threads.hint.engine, threads.hint.seed),
        format!("{} switches between threads", threads.schedule.switches()),
    ];
    let same = same(&followed.violations, signature);
    let others = followed.violations.iter().filter_map(Words::of).filter(|words| *words != finding.signature);
    Ok(Replayed {
        others: others.collect(),
        diverges: divergence(&threads.schedule, &followed.schedule),
        same,
        timeline,
    })
}

/// Where `run` leaves `schedule`.
fn divergence(schedule: &Schedule, run: &Schedule) -> Option<usize> {
    let differs = |at: &usize| run.accesses.get(*at) != schedule.accesses.get(*at);
    (0..schedule.accesses.len()).find(differs).map(|at| at + 1)
}

/// What each thread did until another went on, judged by an oracle of its own.
fn acts(stage: &Stage, events: Vec<(u8, Site, Event)>) -> Vec<Act> {
    let Watched { mut oracle, .. } = stage.start_state();
    let mut acts: Vec<(u8, Act)> = Vec::new();
    for (thread, site, event) in events {
        let mut violations = Vec::new();
        oracle.apply(Label::from(site), &event, &mut violations);
        if acts.last().is_none_or(|(last, _)| *last != thread) {
            let actor = stage.shifts()[usize::from(thread)].actor;
            acts.push((thread, Act { actor, heard: Vec::new(), violations: Vec::new() }));
        }
        if let Some((_, act)) = acts.last_mut() {
            act.heard.push((site, event));
            act.violations.extend(violations);
        }
    }
    acts.into_iter().map(|(_, act)| act).collect()
}
