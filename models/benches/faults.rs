//! How fast the engines are, and how soon each of them finds what the cases say threads show.
//!
//! It prints two tables in Markdown, for `docs/models.md`. Times are of one thread. `cargo bench -p pagefence-models`
//! runs it; with `--test` it does nothing.

#![allow(clippy::print_stdout, reason = "the tables are what it is for")]

use pagefence::cases::{Expected, Suite, Trial};
use pagefence::cell::Profile;
use pagefence_models::engine::shuttle::Strategy;
use pagefence_models::isolated::{self, Worker};
use pagefence_models::races::{Effort, jobs};
use pagefence_models::{Ending, Engine, Job, Report, all};

/// Executions of a slice or whole cell for a rate.
const RATE: u64 = 2_000;
/// Executions until a fault counts as not found.
const MOST: u64 = 20_000;
/// A median is of so many runs, each with a seed of its own.
const SEEDS: u64 = 3;

fn main() {
    if std::env::args().any(|word| word == "--test") {
        return;
    }
    if std::env::args().any(|word| word == WORKER) {
        std::process::exit(isolated::worker());
    }
    rates();
    faults();
}

/// What makes this program a worker.
const WORKER: &str = "worker";

/// Runs a job in a process of its own: an engine leaves things behind that slow the next one down.
fn run(job: &Job) -> Report {
    let program = std::env::current_exe().unwrap_or_else(|error| panic!("{error}"));
    let report = isolated::run(job, &Worker { program: &program, arguments: &[WORKER] }, None);
    assert!(!matches!(report.ending, Ending::Failed(_)), "{:?}", report.ending);
    report
}

/// Executions a second on the reference, median of the slices and of the whole cells of each model.
fn rates() {
    println!("| model | loom, slices | shuttle, slices | shuttle, whole cells |\n|---|---|---|---|");
    for model in all() {
        let rate = |slices: &[pagefence_models::Slice], engine| {
            let rate = |slice: &pagefence_models::Slice| {
                let report = run(&job(model.name, &slice.name, engine));
                report.executions as f64 * 1e3 / report.milliseconds.max(1) as f64
            };
            median(slices.iter().map(rate).collect())
        };
        let (loom, small) = (rate(&model.slices, Engine::LOOM), rate(&model.slices, Engine::Shuttle));
        let whole = rate(&model.wholes, Engine::Shuttle);
        println!("| `{}` | {loom:.0}/s | {small:.0}/s | {whole:.0}/s |", model.name);
    }
    println!();
}

fn job(model: &str, slice: &str, engine: Engine) -> Job {
    Job {
        model: model.to_owned(),
        slice: slice.to_owned(),
        profile: Profile::reference(),
        engine,
        seed: 0,
        executions: RATE,
        milliseconds: None,
        until: None,
    }
}

/// Executions and time until each race is found on its first profile, by each engine.
fn faults() {
    let engines: Vec<Engine> = std::iter::once(Engine::LOOM).chain(Strategy::PORTFOLIO.map(Engine::Only)).collect();
    println!("| case | place | profile | loom | pct3 | pct5 | urw | random |\n|---|---|---|---|---|---|---|---|");
    let suite = Suite::shipped();
    let trials = suite.trials(|_| true).unwrap_or_else(|error| panic!("{error}"));
    for trial in trials.iter().filter(|trial| is_first(trial)) {
        let cells: Vec<String> = engines.iter().map(|engine| cell(trial, *engine)).collect();
        let (case, place, profile) = (&trial.case.id, &trial.race.place, &trial.profile.name);
        println!("| {case} | `{place}` | `{profile}` | {} |", cells.join(" | "));
    }
}

/// Whether this is the first profile that shows the race.
fn is_first(trial: &Trial<'_>) -> bool {
    let first = trial.race.found.first().and_then(|words| pagefence::cases::Case::profile(words).ok());
    trial.expected == Expected::Found && first.is_some_and(|first| first == trial.profile)
}

/// `312 (40 ms)`: the median of what it took; `-` where most runs did not find it, or the engine does not fit.
fn cell(trial: &Trial<'_>, engine: Engine) -> String {
    let loom = matches!(engine, Engine::Loom { .. });
    // Loom takes no seed.
    let seeds = if loom { 0..1 } else { 0..SEEDS };
    let mut took = Vec::new();
    for seed in seeds {
        let made = jobs(trial, &Effort { seed, found: MOST, held: MOST }).unwrap_or_else(|error| panic!("{error}"));
        let fits = |job: &&Job| matches!(job.engine, Engine::Loom { .. }) == loom;
        let Some(job) = made.iter().find(fits) else { return "-".to_owned() };
        let report = run(&Job { engine, ..job.clone() });
        let found = report.ending == Ending::Found;
        took.push(if found { (report.executions as f64, report.milliseconds as f64) } else { (f64::MAX, f64::MAX) });
    }
    let executions = median(took.iter().map(|took| took.0).collect());
    let milliseconds = median(took.iter().map(|took| took.1).collect());
    if executions < f64::MAX { format!("{executions:.0} ({milliseconds:.0} ms)") } else { "-".to_owned() }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}
