//! A scope, searched to its end.

use super::{Bench, section};
use crate::nightly::record::Record;
use crate::nightly::task::Task;
use crate::view;
use anyhow::Result;
use pagefence::cell::Config;
use pagefence::explore::{Budget, ExhaustiveOptions, Finding, Serving, exhaustive};
use pagefence::library;
use pagefence::lifetime::Severity;
use pagefence::report::count;

impl Bench<'_> {
    /// A proof is of the profile itself: what a case declares for it is no excuse.
    pub(super) fn prove(&self, task: &Task) -> Result<Record> {
        let budget = section(self.budgets.prove.as_ref())?;
        let (profile, scope) = (library::profile(&task.profile, &[])?, library::scope(&task.place)?);
        let serving = Serving::new(Config { switches: profile.switches, scope: scope.clone() });
        let options = ExhaustiveOptions { stop_at: Some(Severity::Corruption), symmetry: true, jobs: 1 };
        let limits = Budget { states: Some(budget.states), stop: Some(self.stop), ..Budget::default() };
        let search = exhaustive(&serving, &options, &limits);
        let found = |found| Finding::new(found, profile.clone(), scope.clone(), "exhaustive", self.seed);
        let findings: Vec<Finding> = search.findings.iter().filter_map(found).collect();
        let says = format!(
            "{}, {}, {}",
            count(search.states, "state"),
            count(findings.len() as u64, "signature"),
            view::stop(search.stop)
        );
        let passed = search.closed && findings.is_empty();
        let (done, closed) = (search.states, search.closed);
        Ok(Record { done, closed, findings, ..Record::new(task) }.judged(passed, says))
    }
}
