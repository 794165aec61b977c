//! How each kind of task is done. A task has one thread: the others have tasks of their own.

mod atlas;
mod cases;
mod corpus;
mod fuzz;
mod hunt;
mod models;
mod prove;

use super::budgets::Budgets;
use super::folder::Folder;
use super::libfuzzer::Fuzzers;
use super::record::Record;
use super::task::{Area, Task};
use crate::view::Known;
use anyhow::{Context as _, Result};
use pagefence::cases::Suite;
use pagefence::explore::Finding;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// What every task may need.
pub struct Bench<'a> {
    pub budgets: &'a Budgets,
    pub seed: u64,
    pub suite: &'a Suite,
    pub folder: &'a Folder,
    /// A checkout of pagefence.
    pub checkout: PathBuf,
    /// The night before.
    pub previous: Option<PathBuf>,
    /// The fuzz targets, where they are needed.
    pub fuzzers: Option<&'a Fuzzers>,
    pub stop: &'static AtomicBool,
}

impl Bench<'_> {
    /// Does a task.
    pub fn run(&self, task: &Task) -> Result<Record> {
        let began = Instant::now();
        let record = match task.area {
            Area::Cases => self.cases(task),
            Area::Prove => self.prove(task),
            Area::Hunt => self.hunt(task),
            Area::Models => self.models(task),
            Area::Atlas => self.atlas(task),
            Area::Corpus => self.corpus(task),
            Area::Fuzz => self.fuzz(task),
        };
        let record = record.with_context(|| task.to_string())?;
        Ok(Record { seconds: began.elapsed().as_secs_f64(), ..record })
    }

    /// Files each finding under the case that declares it, or with what nobody has told of.
    fn file(&self, record: &mut Record, finding: &Finding, smallest: impl FnOnce(&Finding) -> Finding) {
        match Known::of(self.suite, finding) {
            Some(Known { case, declared: true }) => *record.known.entry(case).or_default() += 1,
            _ => record.findings.push(smallest(finding)),
        }
    }
}

/// The section of the budgets that a task comes from.
fn section<T>(budget: Option<&T>) -> Result<&T> {
    budget.context("the budgets have no section for it")
}
