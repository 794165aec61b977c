//! The corpus of a target, each input once, without libFuzzer; and what became regressions.

use super::Bench;
use crate::nightly::record::{Crash, Record};
use crate::nightly::task::Task;
use anyhow::{Context as _, Result, bail};
use pagefence::report::count;
use pagefence_harness::corpus::files;
use pagefence_harness::promote::findings;
use pagefence_harness::targets::Target;
use std::fs;

impl Bench<'_> {
    pub(super) fn corpus(&self, task: &Task) -> Result<Record> {
        let target: Target = task.place.parse().map_err(anyhow::Error::msg)?;
        let mut record = Record::new(task);
        let previous = self.previous.iter().map(|previous| previous.join("corpus"));
        for root in std::iter::once(self.checkout.join("corpus")).chain(previous) {
            for file in files(&root, target).with_context(|| root.display().to_string())? {
                let bytes = fs::read(&file).with_context(|| file.display().to_string())?;
                record.done += 1;
                let Err(crash) = target.run(&bytes, &mut ()) else { continue };
                record.findings.extend(findings(target, &bytes, false));
                record.crashes.push(Crash { file: file.display().to_string(), says: crash.to_string() });
            }
        }
        if record.done == 0 {
            bail!("{}: has no input of `{target}`", self.checkout.join("corpus").display());
        }
        let passed = record.crashes.is_empty();
        let says = format!("{}, {}", count(record.done, "input"), count(record.crashes.len() as u64, "crash"));
        Ok(record.judged(passed, says))
    }
}
