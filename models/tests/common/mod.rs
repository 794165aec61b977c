//! How the tests run jobs: each in a process of its own.

use pagefence::cases::Pattern;
use pagefence::cell::{Profile, Switch};
use pagefence_models::isolated::{Worker, run_all};
use pagefence_models::{Engine, Job, Report};

/// The seed of every test.
pub const SEED: u64 = 7;

/// A profile by name, with settings: `reference door=off`.
#[allow(dead_code, reason = "not every test asks for one")]
pub fn profile(words: &str) -> Profile {
    let mut words = words.split_whitespace();
    let base = Profile::preset(words.next().unwrap()).unwrap();
    words.fold(base, |profile, setting| profile.set(setting).unwrap())
}

/// The reference without these protections.
#[allow(dead_code, reason = "not every test takes protections away")]
pub fn reference_without(off: &[Switch]) -> Profile {
    off.iter().fold(Profile::reference(), |profile, switch| profile.with(*switch, false))
}

/// A job for `model/slice`.
#[allow(dead_code, reason = "the races of the cases make their own")]
pub fn job(place: &str, profile: Profile, engine: Engine, executions: u64, until: Option<Pattern>) -> Job {
    let (model, slice) = place.split_once('/').unwrap();
    Job {
        model: model.to_owned(),
        slice: slice.to_owned(),
        profile,
        engine,
        seed: SEED,
        executions,
        milliseconds: None,
        until,
    }
}

/// The worker: this very binary, asked for this one test. No test of its own.
#[test]
#[ignore = "what `run` starts, with a job on standard input"]
fn worker() {
    std::process::exit(pagefence_models::isolated::worker());
}

/// Runs `jobs` on both cores.
pub fn run(jobs: &[Job]) -> Vec<Report> {
    let program = std::env::current_exe().unwrap();
    let arguments = ["--ignored", "--exact", "common::worker", "--nocapture"];
    run_all(jobs, 2, &Worker { program: &program, arguments: &arguments }, None, |_| {})
}
