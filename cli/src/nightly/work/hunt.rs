//! A version in a scope, hunted for what no case declares.

use super::{Bench, section};
use crate::nightly::record::Record;
use crate::nightly::task::Task;
use anyhow::Result;
use pagefence::explore::{Budget, Explorer, HuntOptions, hunt};
use pagefence::library;
use pagefence::lifetime::Severity;
use pagefence::report::count;

impl Bench<'_> {
    pub(super) fn hunt(&self, task: &Task) -> Result<Record> {
        let budget = section(self.budgets.hunt.as_ref())?;
        let (profile, scope) = (library::profile(&task.profile, &[])?, library::scope(&task.place)?);
        let options = HuntOptions {
            seed: self.seed,
            jobs: 1,
            explorers: vec![Explorer::Exhaustive, Explorer::Swarm],
            stop_at: Severity::Corruption,
            minimise: false,
        };
        let limits =
            Budget { time: Some(budget.each.0), memory: Some(1 << 30), stop: Some(self.stop), ..Budget::default() };
        let hunt = hunt(&profile, &scope, &options, &limits);
        let mut record = Record { closed: hunt.closed(), ..Record::new(task) };
        record.done = hunt.runs.iter().map(|run| run.steps).sum();
        for finding in &hunt.findings {
            self.file(&mut record, finding, |finding| finding.minimise().unwrap_or_else(|| finding.clone()));
        }
        let (news, livelocks) = (record.findings.len(), hunt.livelocks());
        let known: u64 = record.known.values().sum();
        let mut says = format!("{} known, {news} new", count(known, "signature"));
        if livelocks > 0 {
            says += &format!(", {} NEVER CAME TO REST", count(livelocks, "walk"));
        }
        Ok(record.judged(news == 0 && livelocks == 0, says))
    }
}
