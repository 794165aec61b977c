//! How soon each fault is found from nothing: by libFuzzer, with the coverage of the protocol as extra counters and without, and by
//! random walks; and races, by libFuzzer's schedules. `cargo bench -p pagefence-models` has the same races for shuttle.
//!
//! It prints tables in Markdown, for `docs/fuzzing.md`. It needs the fuzz targets (`cargo fuzz build -O -s none --no-trace-compares`).
//! `cargo bench -p pagefence-harness` runs it, for the cases named behind `--` or for all; with `--test` it does nothing.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "the tables are what it is for")]

use pagefence::cases::{Case, Suite};
use pagefence::cell::Config;
use pagefence::explore::{Budget, Mix, Serving, Swarm, SwarmOptions, swarm};
use pagefence::library;
use pagefence_harness::Worlds;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// A median is of so many runs, each with a seed of its own.
const SEEDS: u64 = 3;
/// After so long a fault counts as not found.
const SECONDS: u64 = 20;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    if words.iter().any(|word| word == "--test") {
        return;
    }
    let Some(fuzzers) = fuzzers() else {
        eprintln!("build the targets first: cargo fuzz build -O -s none --no-trace-compares");
        std::process::exit(2);
    };
    let suite = Suite::shipped();
    let cases = || suite.cases().iter().filter(|case| words.is_empty() || words.contains(&case.id));
    println!("| case | profile | libFuzzer, counters | libFuzzer | swarm in its scope |\n|---|---|---|---|---|");
    for case in cases() {
        let Some(profile) = case.found.iter().find(|name| is_shipped(name)).filter(|_| !case.scope.is_empty()) else {
            continue;
        };
        let goal = [("PAGEFENCE_GOAL", case.id.as_str()), ("PAGEFENCE_PROFILE", profile)];
        let with = median(|seed| fuzz(&fuzzers, "script", &goal, seed));
        let without = [&goal[..], &[("PAGEFENCE_COUNTERS", "off")]].concat();
        let without = median(|seed| fuzz(&fuzzers, "script", &without, seed));
        let walks = median(|seed| walks(case, profile, seed));
        println!("| {} | `{profile}` | {with} | {without} | {walks} |", case.id);
    }
    println!("\n| case | place | profile | libFuzzer, `schedule` |\n|---|---|---|---|");
    for case in cases() {
        for race in &case.races {
            let Some(profile) = race.found.iter().find(|name| is_shipped(name)) else { continue };
            let goal = [
                ("PAGEFENCE_GOAL", case.id.as_str()),
                ("PAGEFENCE_PROFILE", profile),
                ("PAGEFENCE_PLACE", race.place.as_str()),
            ];
            let took = median(|seed| fuzz(&fuzzers, "schedule", &goal, seed));
            println!("| {} | `{}` | `{profile}` | {took} |", case.id, race.place);
        }
    }
}

/// An input can name no other profile.
fn is_shipped(profile: &str) -> bool {
    Worlds::shipped().profile(profile).is_some()
}

/// How much it took, and how long.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
struct Took {
    seconds: f64,
    executions: u64,
}

/// The median, or `-` when most runs did not find it.
fn median(run: impl Fn(u64) -> Option<Took>) -> String {
    let mut runs: Vec<Option<Took>> = (1..=SEEDS).map(run).collect();
    // Those that have not found it are the slowest.
    runs.sort_by(|a, b| a.map_or(f64::MAX, |a| a.seconds).total_cmp(&b.map_or(f64::MAX, |b| b.seconds)));
    let middle = runs[runs.len() / 2];
    middle.map_or("-".to_owned(), |Took { seconds, executions }| format!("{executions} ({seconds:.1} s)"))
}

/// libFuzzer on a target, from an empty corpus, until it meets the goal in its environment.
fn fuzz(fuzzers: &Path, target: &str, environment: &[(&str, &str)], seed: u64) -> Option<Took> {
    let crashes = std::env::temp_dir().join(format!("pagefence-bench-{}", std::process::id()));
    std::fs::create_dir_all(&crashes).ok()?;
    let began = Instant::now();
    let output = Command::new(fuzzers.join(target))
        .envs(environment.iter().copied())
        .args([format!("-seed={seed}"), format!("-max_total_time={SECONDS}")])
        .args(["-entropic=0", "-print_final_stats=1"])
        .arg(format!("-artifact_prefix={}/", crashes.display()))
        .output()
        .ok()?;
    let seconds = began.elapsed().as_secs_f64();
    _ = std::fs::remove_dir_all(&crashes);
    let said = String::from_utf8_lossy(&output.stderr);
    let executions = said.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:"));
    let executions = executions.and_then(|count| count.trim().parse().ok())?;
    said.contains("declared by").then_some(Took { seconds, executions })
}

/// Random walks in the scope of the case, until one meets it.
fn walks(case: &Case, profile: &str, seed: u64) -> Option<Took> {
    let profile = library::profile(profile, &[]).ok()?;
    let scope = case.scopes().ok()?.into_iter().next()?;
    let serving = Serving::new(Config { switches: profile.switches, scope });
    let began = Instant::now();
    let mut walks = 64;
    while began.elapsed().as_secs() < SECONDS {
        let stop_at = Some(pagefence::cases::STOP_AT);
        let options = SwarmOptions { seed, mix: Mix::Swarm, jobs: 1, stop_at, ..SwarmOptions::default() };
        let Swarm { findings, .. } = swarm(&serving, &options, &Budget { walks: Some(walks), ..Budget::default() });
        let shown = findings.iter().filter(|found| case.violation.is_among(std::slice::from_ref(&found.violation)));
        // Walks are numbered from zero, and the first that met it is kept.
        if let Some(first) = shown.filter_map(|found| found.walk).min() {
            return Some(Took { seconds: began.elapsed().as_secs_f64(), executions: first + 1 });
        }
        walks *= 4;
    }
    None
}

/// Where cargo-fuzz has put the targets.
fn fuzzers() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/target");
    let hosts = std::fs::read_dir(root).ok()?.flatten();
    hosts.map(|host| host.path().join("release")).find(|folder| folder.join("script").is_file())
}
