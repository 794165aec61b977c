//! The rejection atlas of a profile.

use super::{Bench, section};
use crate::nightly::record::Record;
use crate::nightly::task::Task;
use anyhow::Result;
use pagefence::cell::Producer;
use pagefence::library;
use pagefence_harness::atlas::{Stage, draw};

impl Bench<'_> {
    pub(super) fn atlas(&self, task: &Task) -> Result<Record> {
        let walks = section(self.budgets.atlas.as_ref())?.walks;
        let atlas = draw(&library::profile(&task.profile, &[])?, walks, self.seed);
        let entries: Vec<_> = atlas.entries().collect();
        let all = Producer::ALL.len() * Stage::ALL.len();
        let says = format!("{} of {all} cells were reached", entries.len());
        let done = entries.iter().map(|entry| entry.reached.walks).sum();
        Ok(Record { atlas: entries, done, ..Record::new(task) }.judged(true, says))
    }
}
