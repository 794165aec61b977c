//! A target under libFuzzer. A crash does not end the time of the target: it is kept, and passed over from then on.

use super::{Bench, section};
use crate::nightly::libfuzzer::{Fuzzers, Places, Ran};
use crate::nightly::record::{Crash, Point, Record};
use crate::nightly::task::Task;
use anyhow::{Context as _, Result};
use pagefence::report::count;
use pagefence_harness::promote::findings;
use pagefence_harness::targets::Target;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// After so many crashes a target has nothing to tell that is not known.
const MOST_CRASHES: usize = 20;

impl Bench<'_> {
    pub(super) fn fuzz(&self, task: &Task) -> Result<Record> {
        let time = section(self.budgets.fuzz.as_ref())?.each.0;
        let target: Target = task.place.parse().map_err(anyhow::Error::msg)?;
        let fuzzers = self.fuzzers.context("no fuzz targets were built")?;
        let own = self.folder.folder(&format!("corpus/{target}"))?;
        let crashes = self.folder.folder(&format!("crashes/{target}"))?;
        let pass = self.folder.folder("findings")?;
        let seeds = self.seeds(target);
        let folders: Vec<PathBuf> = std::iter::once(own.clone()).chain(seeds).collect();
        let places = Places { folders: &folders, crashes: &crashes, pass: &pass };
        let mut record = Record::new(task);
        let began = Instant::now();
        for round in 0..=MOST_CRASHES as u64 {
            let left = time.saturating_sub(began.elapsed());
            if left < Duration::from_secs(1) || self.stop.load(Ordering::Relaxed) {
                break;
            }
            let before = names(&crashes)?;
            let ran = fuzzers.run(target, places, left, self.seed + round, self.stop)?;
            append(&mut record.curve, &ran, time.saturating_sub(left));
            if !ran.crashed {
                break;
            }
            let new = names(&crashes)?.into_iter().filter(|path| !before.contains(path));
            if !self.file_crashes(&mut record, target, new, &ran)? {
                // It would stop at the same place again.
                break;
            }
        }
        self.keep_smallest(fuzzers, target, &own, places)?;
        record.done = record.curve.last().map_or(0, |point| point.executions);
        let last = record.curve.last().copied().unwrap_or_default();
        let says = format!(
            "{}, {} features, {}",
            count(record.done, "execution"),
            last.features,
            count(record.crashes.len() as u64, "crash")
        );
        let passed = record.crashes.is_empty();
        Ok(record.judged(passed, says))
    }

    /// Where it starts from: what the checkout has, and what the night before has left.
    fn seeds(&self, target: Target) -> Vec<PathBuf> {
        let previous = self.previous.iter().map(|previous| previous.join("corpus"));
        let roots = std::iter::once(self.checkout.join("corpus")).chain(previous);
        roots.map(|root| root.join(target.name())).filter(|folder| folder.is_dir()).collect()
    }

    /// Keeps what crashes show. Whether the target can go on past them.
    fn file_crashes(
        &self,
        record: &mut Record,
        target: Target,
        inputs: impl Iterator<Item = PathBuf>,
        ran: &Ran,
    ) -> Result<bool> {
        let mut passable = false;
        for input in inputs {
            let bytes = fs::read(&input).with_context(|| input.display().to_string())?;
            let says =
                target.run(&bytes, &mut ()).err().map_or_else(|| ran.last_words.clone(), |crash| crash.to_string());
            let file = input.file_name().map(|name| format!("crashes/{target}/{}", name.to_string_lossy()));
            record.crashes.push(Crash { file: file.unwrap_or_default(), says });
            for finding in findings(target, &bytes, false) {
                passable = true;
                self.folder.keep_finding(&finding)?;
                record.findings.push(finding);
            }
        }
        Ok(passable)
    }

    /// Replaces the corpus by as few inputs as cover the same. Killed in between, it stays as it was.
    fn keep_smallest(&self, fuzzers: &Fuzzers, target: Target, own: &Path, places: Places<'_>) -> Result<()> {
        if self.stop.load(Ordering::Relaxed) {
            return Ok(());
        }
        let small = self.folder.path(&format!("corpus/{target}.smaller"));
        _ = fs::remove_dir_all(&small);
        fs::create_dir_all(&small).with_context(|| small.display().to_string())?;
        fuzzers.minimise(target, &small, places, self.stop)?;
        if self.stop.load(Ordering::Relaxed) || names(&small)?.is_empty() {
            return Ok(());
        }
        fs::remove_dir_all(own).with_context(|| own.display().to_string())?;
        fs::rename(&small, own).with_context(|| own.display().to_string())
    }
}

fn names(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    Ok(entries.flatten().map(|entry| entry.path()).collect())
}

/// Appends the curve of a run that began `after` so long.
fn append(curve: &mut Vec<Point>, ran: &Ran, after: Duration) {
    let executions = curve.last().map_or(0, |point| point.executions);
    curve.extend(ran.curve.iter().map(|point| Point {
        seconds: point.seconds + after.as_secs_f64(),
        executions: point.executions + executions,
        ..*point
    }));
}
