//! A case on every profile that it names.

use super::Bench;
use crate::matrix;
use crate::nightly::record::Record;
use crate::nightly::task::Task;
use crate::races;
use anyhow::Result;
use pagefence::cases::{Case, Verdict};
use pagefence::report::count;

impl Bench<'_> {
    pub(super) fn cases(&self, task: &Task) -> Result<Record> {
        let chosen = |case: &Case| case.id == task.place;
        let mut rows = self.suite.check(chosen, &matrix::options(self.seed, 1), |_| {})?;
        rows.extend(races::rows(self.suite, chosen, self.seed, |jobs| races::quietly(jobs, 1))?);
        let wrong = rows.iter().filter(|row| row.verdict != Verdict::AsDeclared).count();
        let runs = count(rows.len() as u64, "run");
        let says =
            if wrong == 0 { format!("{runs}, all as declared") } else { format!("{wrong} of {runs} NOT AS DECLARED") };
        let closed = rows.iter().all(|row| row.closed || row.replayed);
        let done = rows.len() as u64;
        Ok(Record { rows, done, closed, ..Record::new(task) }.judged(wrong == 0, says))
    }
}
