//! Jobs of the models, each in a process of its own, and the races of the cases.

use crate::interrupt;
use crate::progress::Spinner;
use anyhow::Result;
use pagefence::cases::{Case, Row, Suite};
use pagefence_models::isolated::{Worker, run_all};
use pagefence_models::races::{Effort, jobs, row};
use pagefence_models::{Job, Report};

/// Executions of an engine: what every race is found within, and what most slices have no more schedules than.
const FOUND: u64 = 40_000;
const HELD: u64 = 10_000;

/// Runs `jobs`, so many at a time. After Ctrl-C there are fewer reports than jobs.
pub fn race(jobs: &[Job], parallel: usize) -> Result<Vec<Report>> {
    let bar = Spinner::bar("racing", jobs.len());
    run_in_workers(jobs, parallel, |report| bar.done(format!("{}/{}", report.job.model, report.job.slice)))
}

/// The same without a word: somebody else tells how far things are.
pub fn quietly(jobs: &[Job], parallel: usize) -> Result<Vec<Report>> {
    run_in_workers(jobs, parallel, |_| ())
}

fn run_in_workers(jobs: &[Job], parallel: usize, tell: impl Fn(&Report) + Sync) -> Result<Vec<Report>> {
    let program = std::env::current_exe()?;
    let worker = Worker { program: &program, arguments: &["model", "worker"] };
    Ok(run_all(jobs, parallel, &worker, Some(interrupt::flag()), tell))
}

/// Tries every race of the cases that `chosen` picks on every profile that it names; `race` runs the jobs. Fewer rows than trials
/// mean that Ctrl-C was pressed.
pub fn rows(
    suite: &Suite,
    chosen: impl Fn(&Case) -> bool,
    seed: u64,
    race: impl FnOnce(&[Job]) -> Result<Vec<Report>>,
) -> Result<Vec<Row>> {
    let trials = suite.trials(chosen)?;
    let effort = Effort { seed, found: FOUND, held: HELD };
    let of_each: Vec<Vec<Job>> = trials.iter().map(|trial| jobs(trial, &effort)).collect::<Result<_, _>>()?;
    let mut reports = race(&of_each.concat())?.into_iter();
    let mut rows = Vec::new();
    for (trial, jobs) in trials.iter().zip(&of_each) {
        let own: Vec<Report> = reports.by_ref().take(jobs.len()).collect();
        if own.len() < jobs.len() || interrupt::pressed() {
            break;
        }
        rows.push(row(trial, &own)?);
    }
    Ok(rows)
}
