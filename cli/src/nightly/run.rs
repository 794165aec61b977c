//! A night, from its plan to its report.

use super::budgets::Budgets;
use super::folder::{About, Folder, Shard};
use super::libfuzzer::Fuzzers;
use super::night::Night;
use super::record::{Record, Verdict};
use super::task::{Area, Task, plan};
use super::work::Bench;
use crate::console::Console;
use crate::interrupt;
use crate::progress::Spinner;
use anyhow::{Result, bail};
use pagefence::cases::Suite;
use pagefence::report::count;
use pagefence_models::finding::SOURCE;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

/// How a night goes.
pub struct Options {
    /// Where it is kept.
    pub out: PathBuf,
    /// How much of what.
    pub budgets: Budgets,
    /// Where random choices take their numbers from.
    pub seed: u64,
    /// Which part of the work.
    pub shard: Shard,
    /// How many tasks at once.
    pub jobs: usize,
    /// A checkout of pagefence.
    pub checkout: PathBuf,
    /// The night before, whose corpora this one goes on with.
    pub previous: Option<PathBuf>,
}

/// Does what is not yet done of a night, and returns all of it.
pub fn run(options: &Options, console: &mut Console) -> Result<Night> {
    let stop = interrupt::flag();
    let about = About {
        pagefence: env!("CARGO_PKG_VERSION").to_owned(),
        source: SOURCE.to_owned(),
        seed: options.seed,
        shard: options.shard,
        budgets: options.budgets.clone(),
    };
    let tasks = options.shard.of_these(plan(&options.budgets));
    let folder = Folder::open(&options.out, &about)?;
    let mut records = Vec::new();
    let mut left = Vec::new();
    for task in tasks {
        match folder.record(&task)? {
            Some(record) => records.push(record),
            None => left.push(task),
        }
    }
    console.line(format!(
        "nightly: seed {}, shard {}, {}, jobs {}, limit {}, source {SOURCE}",
        options.seed,
        options.shard,
        count((records.len() + left.len()) as u64, "task"),
        options.jobs,
        options.budgets.limit,
    ))?;
    if !records.is_empty() {
        console.line(format!("going on: {} done before", count(records.len() as u64, "task")))?;
    }
    let suite = Suite::shipped();
    let began = Instant::now();
    let fuzzers = fuzzers(&left, &options.checkout, console)?;
    let bench = Bench {
        budgets: &options.budgets,
        seed: options.seed,
        suite: &suite,
        folder: &folder,
        checkout: options.checkout.clone(),
        previous: options.previous.clone(),
        fuzzers: fuzzers.as_ref(),
        stop,
    };
    records.extend(work(&bench, &left, options.jobs, began)?);
    Ok(Night::new(about, records))
}

/// Builds the fuzz targets if they are needed.
fn fuzzers(tasks: &[Task], checkout: &Path, console: &mut Console) -> Result<Option<Fuzzers>> {
    if tasks.iter().all(|task| task.area != Area::Fuzz) {
        return Ok(None);
    }
    console.line("building the fuzz targets")?;
    let _spinner = Spinner::new("building the fuzz targets");
    Fuzzers::build(checkout).map(Some)
}

/// Does the tasks, so many at once. The first error ends it: what is done by then is kept.
fn work(bench: &Bench<'_>, tasks: &[Task], jobs: usize, began: Instant) -> Result<Vec<Record>> {
    let bar = Spinner::bar("night", tasks.len());
    let next = AtomicUsize::new(0);
    let records: Mutex<Vec<Record>> = Mutex::default();
    let failure: Mutex<Option<anyhow::Error>> = Mutex::default();
    let over = |task: &Task| task.area.is_elastic() && began.elapsed() >= bench.budgets.limit.0;
    let done = |task: &Task| -> Result<()> {
        if over(task) {
            return Ok(());
        }
        let record = bench.run(task)?;
        // A task that was cut short is begun again.
        if interrupt::pressed() {
            return Ok(());
        }
        bench.folder.keep(&record)?;
        if record.verdict == Verdict::Failed {
            bar.say(&format!("{task}: {}", record.says));
        }
        records.lock().unwrap_or_else(PoisonError::into_inner).push(record);
        Ok(())
    };
    thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, tasks.len().max(1)) {
            scope.spawn(|| {
                while let Some(task) = tasks.get(next.fetch_add(1, Ordering::Relaxed))
                    && !interrupt::pressed()
                    && failure.lock().unwrap_or_else(PoisonError::into_inner).is_none()
                {
                    if let Err(error) = done(task) {
                        failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                    }
                    bar.done(task.to_string());
                }
            });
        }
    });
    drop(bar);
    match failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(error) => bail!("{error:#}; what was done is kept, the same command goes on"),
        None => Ok(records.into_inner().unwrap_or_else(PoisonError::into_inner)),
    }
}
