//! A slice or whole cell on threads.

use super::{Bench, section};
use crate::nightly::record::Record;
use crate::nightly::task::Task;
use crate::races;
use crate::view;
use anyhow::{Context as _, Result};
use pagefence::library;
use pagefence::report::count;
use pagefence_models::finding::{as_met, keep};
use pagefence_models::{Ending, Job};

impl Bench<'_> {
    pub(super) fn models(&self, task: &Task) -> Result<Record> {
        let budget = section(self.budgets.models.as_ref())?;
        let (model, slice, engine) = task.slice_and_engine().context("there is no such slice or engine")?;
        let job = Job {
            model: model.to_owned(),
            slice: slice.to_owned(),
            profile: library::profile(&task.profile, &[])?,
            engine,
            seed: self.seed,
            executions: u64::MAX,
            milliseconds: Some(budget.each.0.as_millis() as u64),
            until: None,
        };
        let slice = job.slice()?;
        let reports = races::quietly(std::slice::from_ref(&job), 1)?;
        let report = reports.first().context("interrupted")?;
        let mut record = Record::new(task);
        (record.done, record.closed) = (report.executions, report.ending == Ending::Exhausted);
        for met in &report.met {
            self.file(&mut record, &as_met(&job, slice, met), |_| keep(&job, slice, met));
        }
        let (news, known) = (record.findings.len(), record.known.values().sum());
        let says = format!("{}, {} known, {news} new", view::ending(&report.ending), count(known, "signature"));
        let passed = news == 0 && !matches!(report.ending, Ending::Failed(_));
        Ok(record.judged(passed, says))
    }
}
