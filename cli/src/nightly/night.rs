//! A night: what was to be done, and what came of it.

use super::folder::{About, Shard, read_about, read_records};
use super::record::{Record, Verdict};
use super::task::{Area, Task, plan};
use anyhow::{Result, bail};
use clap::ValueEnum as _;
use pagefence::cases::Row;
use pagefence::explore::Finding;
use pagefence::report::count;
use pagefence_harness::atlas::Atlas;
use serde::Serialize;
use std::path::Path;

/// A night, or as much of it as there is.
#[derive(Debug)]
pub struct Night {
    /// What it is.
    pub about: About,
    /// What came of each task, in the order of the plan.
    pub records: Vec<Record>,
    /// Tasks that nobody has done.
    pub left: Vec<Task>,
}

/// How a night went, as JSON.
#[derive(Serialize)]
pub struct NightSummary<'a> {
    command: &'static str,
    about: &'a About,
    as_declared: bool,
    verdict: String,
    areas: Vec<Tally>,
    failed: Vec<String>,
    left: Vec<String>,
    findings: Vec<&'a Finding>,
}

/// What a kind of task came to.
#[derive(Serialize)]
pub struct Tally {
    /// The kind.
    pub area: Area,
    /// Tasks that were done.
    pub tasks: usize,
    /// Of these, how many have failed.
    pub failed: usize,
    /// Tasks that were not done.
    pub left: usize,
    /// How much was done.
    pub done: u64,
    /// Tasks that left nothing to look at.
    pub closed: usize,
    /// The time of all of them together, on one core.
    pub seconds: f64,
}

impl Night {
    /// A night of these records.
    pub fn new(about: About, mut records: Vec<Record>) -> Self {
        let planned = about.shard.of_these(plan(&about.budgets));
        let mut ordered = Vec::new();
        let mut left = Vec::new();
        for task in planned {
            match records.iter().position(|record| record.task == task) {
                Some(at) => ordered.push(records.swap_remove(at)),
                None => left.push(task),
            }
        }
        Self { about, records: ordered, left }
    }

    /// Reads the night in a folder.
    ///
    /// # Errors
    /// When there is none, or it is of another version.
    pub fn read(root: &Path) -> Result<Self> {
        let Some(about) = read_about(root)? else { bail!("{}: there is no night in it", root.display()) };
        Ok(Self::new(about, read_records(root)?))
    }

    /// The night that these shards are together.
    ///
    /// # Errors
    /// When they are not parts of one night.
    pub fn merge(shards: &[Self]) -> Result<Self> {
        let Some(first) = shards.first() else { bail!("name the folders of the shards") };
        let whole = About { shard: Shard::WHOLE, ..first.about.clone() };
        for shard in shards {
            let alike = About { shard: Shard::WHOLE, ..shard.about.clone() } == whole;
            if !alike || shard.about.shard.of != first.about.shard.of {
                bail!(
                    "shard {} is of another night: another version, seed, budget, or number of shards",
                    shard.about.shard
                );
            }
        }
        Ok(Self::new(whole, shards.iter().flat_map(|shard| shard.records.iter().cloned()).collect()))
    }

    /// Whether all that was done is as declared.
    pub fn passed(&self) -> bool {
        self.failed().next().is_none()
    }

    /// Whether everything that must be done in any case was done.
    pub fn complete(&self) -> bool {
        self.left.iter().all(|task| task.area.is_elastic())
    }

    /// What has failed.
    pub fn failed(&self) -> impl Iterator<Item = &Record> {
        self.records.iter().filter(|record| record.verdict == Verdict::Failed)
    }

    /// What no case declares: each signature once on each profile in each place, by whichever task met it first.
    pub fn findings(&self) -> Vec<&Finding> {
        let mut findings: Vec<&Finding> = Vec::new();
        for finding in self.records.iter().flat_map(|record| &record.findings) {
            if findings.iter().all(|known| known.file_name() != finding.file_name()) {
                findings.push(finding);
            }
        }
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.violation.kind.severity()));
        findings
    }

    /// The table of cases.
    pub fn rows(&self) -> Vec<Row> {
        self.records.iter().flat_map(|record| record.rows.iter().cloned()).collect()
    }

    /// The rejection atlas of each profile.
    pub fn atlases(&self) -> Vec<(&str, Atlas)> {
        let drawn = self.records.iter().filter(|record| record.task.area == Area::Atlas);
        drawn.map(|record| (record.task.profile.as_str(), record.atlas.iter().copied().collect())).collect()
    }

    /// What libFuzzer did, by target.
    pub fn fuzzed(&self) -> impl Iterator<Item = &Record> {
        self.records.iter().filter(|record| record.task.area == Area::Fuzz)
    }

    /// What each kind of task came to.
    pub fn tallies(&self) -> Vec<Tally> {
        let tally = |area: &Area| {
            let own: Vec<&Record> = self.records.iter().filter(|record| record.task.area == *area).collect();
            Tally {
                area: *area,
                tasks: own.len(),
                failed: own.iter().filter(|record| record.verdict == Verdict::Failed).count(),
                left: self.left.iter().filter(|task| task.area == *area).count(),
                done: own.iter().map(|record| record.done).sum(),
                closed: own.iter().filter(|record| record.closed).count(),
                seconds: own.iter().map(|record| record.seconds).sum(),
            }
        };
        Area::value_variants().iter().map(tally).filter(|tally| tally.tasks + tally.left > 0).collect()
    }

    /// The whole as one document; the records are in the folder.
    pub fn summary(&self) -> NightSummary<'_> {
        NightSummary {
            command: "nightly",
            about: &self.about,
            as_declared: self.passed() && self.complete(),
            verdict: self.verdict(),
            areas: self.tallies(),
            failed: self.failed().map(|record| record.task.to_string()).collect(),
            left: self.left.iter().map(ToString::to_string).collect(),
            findings: self.findings(),
        }
    }

    /// How it went, in a line.
    pub fn verdict(&self) -> String {
        let failed = self.failed().count();
        let left = if self.left.is_empty() {
            String::new()
        } else {
            format!(", {} not done", count(self.left.len() as u64, "task"))
        };
        let done = count(self.records.len() as u64, "task");
        match (failed, self.complete()) {
            (0, true) => format!("all as declared: {done}{left}"),
            (0, false) => format!("NOT COMPLETE: {done}, none failed{left}"),
            (failed, _) => format!("{failed} of {done} NOT AS DECLARED{left}"),
        }
    }
}
