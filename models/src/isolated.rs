//! Jobs in processes of their own: loom aborts the process on a deadlock, and may not do so to the results of others.

use crate::job::{Ending, Job, Report};
use serde_json::{from_slice, from_str, to_writer};
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How to start a worker: a program and its arguments.
#[derive(Clone, Debug)]
pub struct Worker<'a> {
    /// The program.
    pub program: &'a Path,
    /// What makes it a worker.
    pub arguments: &'a [&'a str],
}

/// Set when whoever started this worker wants no more of it, or is gone.
static ENOUGH: AtomicBool = AtomicBool::new(false);

/// The worker's side: a job from standard input, its report to standard output. Returns the exit code. When standard input
/// ends, the job ends early, and what it has met until then is in the report.
#[must_use]
pub fn worker() -> i32 {
    // A panic is how an engine ends a run. What it says is in the report.
    std::panic::set_hook(Box::new(|_| {}));
    let mut line = String::new();
    let job = io::stdin().read_line(&mut line).ok().and_then(|_| from_str::<Job>(&line).ok());
    thread::spawn(|| {
        _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        ENOUGH.store(true, Ordering::Relaxed);
    });
    let Some(Ok(report)) = job.map(|job| job.run(Some(&ENOUGH))) else { return 2 };
    let mut out = io::stdout().lock();
    let written = to_writer(&mut out, &report).is_ok() && out.flush().is_ok();
    i32::from(!written)
}

/// How a report begins.
const REPORT: &[u8] = br#"{"job":"#;

/// Runs `job` in a worker, until `stop` at the latest. A worker that dies is an [`Ending::Failed`].
#[must_use]
pub fn run(job: &Job, worker: &Worker<'_>, stop: Option<&AtomicBool>) -> Report {
    let began = Instant::now();
    let failed = |why: String| Report {
        job: job.clone(),
        ending: Ending::Failed(why),
        executions: 0,
        schedules: None,
        milliseconds: began.elapsed().as_millis() as u64,
        met: Vec::new(),
    };
    match output(job, worker, stop) {
        Err(error) => failed(format!("the worker could not be started: {error}")),
        Ok(output) => {
            // A test binary says something of its own before the report.
            let start = output.stdout.windows(REPORT.len()).position(|window| window == REPORT).unwrap_or_default();
            from_slice(&output.stdout[start..]).unwrap_or_else(|_| failed(last_words(&output)))
        }
    }
}

/// How often somebody looks whether the run was stopped.
const LOOK: Duration = Duration::from_millis(50);

fn output(job: &Job, worker: &Worker<'_>, stop: Option<&AtomicBool>) -> io::Result<Output> {
    let mut child = Command::new(worker.program)
        .args(worker.arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let mut input = child.stdin.take();
    if let Some(input) = &mut input {
        to_writer(&mut *input, job)?;
        input.write_all(b"\n")?;
    }
    let (done, output) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(move || done.send(child.wait_with_output()));
        loop {
            match output.recv_timeout(LOOK) {
                Ok(output) => return output,
                // Its standard input ends: the worker tells what it has.
                Err(RecvTimeoutError::Timeout) if is_set(stop) => input = None,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(io::Error::other("nobody waited for it")),
            }
        }
    })
}

fn is_set(stop: Option<&AtomicBool>) -> bool {
    stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
}

fn last_words(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.trim().lines().last().unwrap_or("without a word").to_owned();
    format!("the engine took its process down ({}): {said}", output.status)
}

/// Runs `jobs`, so many at a time; tells `done` of each report as it comes, and returns them in the order of the jobs.
/// After `stop` none is begun, so there are fewer reports than jobs.
///
/// # Panics
/// When `done` does.
pub fn run_all(
    jobs: &[Job],
    parallel: usize,
    worker: &Worker<'_>,
    stop: Option<&AtomicBool>,
    done: impl Fn(&Report) + Sync,
) -> Vec<Report> {
    let next = AtomicUsize::new(0);
    let reports = Mutex::new(vec![None; jobs.len()]);
    thread::scope(|scope| {
        for _ in 0..parallel.clamp(1, jobs.len().max(1)) {
            scope.spawn(|| {
                while let Some((at, job)) = jobs.iter().enumerate().nth(next.fetch_add(1, Ordering::Relaxed))
                    && !is_set(stop)
                {
                    let report = run(job, worker, stop);
                    done(&report);
                    reports.lock().unwrap_or_else(PoisonError::into_inner)[at] = Some(report);
                }
            });
        }
    });
    let reports = reports.into_inner().unwrap_or_else(PoisonError::into_inner);
    reports.into_iter().flatten().collect()
}
