//! The engines see what they are there to see, and a run that was cut short says so.

mod common;

use common::{job, profile, run};
use pagefence::cases::Pattern;
use pagefence::explore::{Finding, Signature};
use pagefence::lifetime::Kind;
use pagefence_models::finding::{ReplayError, keep, replay};
use pagefence_models::isolated::{Worker, run_all};
use pagefence_models::{Ending, Engine, Met, Report, all};
use std::path::Path;

/// A finding of the newest version, from shuttle.
fn finding() -> Finding {
    let job = job(
        "release/clear-meets-abort",
        profile("sglang-0.5.23"),
        Engine::Shuttle,
        5_000,
        Some(Pattern::of(Kind::ReadAfterFree)),
    );
    let report = job.run(None).unwrap();
    let met: &Met = report.met.iter().find(|met| met.signature.kind == Kind::ReadAfterFree).unwrap();
    keep(&job, job.slice().unwrap(), met)
}

#[test]
fn both_engines_see_a_completion_that_comes_before_the_bytes_on_every_profile() {
    for name in ["sglang-0.5.11", "sglang-0.5.23", "reference"] {
        let jobs = [Engine::LOOM, Engine::Shuttle].map(|engine| {
            job("transfer/completion-before-bytes", profile(name), engine, 40_000, Some(Pattern::of(Kind::StaleRead)))
        });
        for report in run(&jobs) {
            assert_eq!(report.ending, Ending::Found, "{name} under {:?}", report.job.engine);
            assert!(report.met.iter().any(|met| met.unordered || met.signature.kind == Kind::StaleRead));
        }
    }
}

#[test]
fn loom_sees_two_accesses_that_nothing_orders() {
    let job = job("transfer/completion-before-bytes", profile("reference"), Engine::LOOM, u64::MAX, None);
    let report: &Report = &run(&[job])[0];
    assert_eq!(report.ending, Ending::Found);
    assert!(report.met.iter().any(|met| met.unordered), "{:?}", report.met);
}

#[test]
fn a_budget_that_ends_first_is_no_exhaustion() {
    for engine in [Engine::LOOM, Engine::Shuttle, Engine::Dfs] {
        let report = &run(&[job("release/success-meets-abort", profile("reference"), engine, 50, None)])[0];
        assert_eq!((&report.ending, report.executions), (&Ending::Truncated, 50), "{engine:?}");
    }
}

#[test]
fn a_depth_first_search_that_cannot_end_says_about_how_many_schedules_there_are() {
    let report = &run(&[job("scheduler/row-meets-commit", profile("reference"), Engine::Dfs, 100, None)])[0];
    assert_eq!((&report.ending, report.executions), (&Ending::Truncated, 100));
    assert!(report.schedules.unwrap() > 1e6, "{:?}", report.schedules);
}

#[test]
fn the_same_seed_draws_the_same_schedules() {
    let job = job("release/abort", profile("sglang-0.5.23"), Engine::Shuttle, 600, None);
    let reports = run(&[job.clone(), job]);
    assert!(!reports[0].met.is_empty());
    assert_eq!(reports[0].met, reports[1].met);
}

#[test]
fn a_worker_that_dies_is_a_failure_and_no_pass() {
    let job = job("release/abort", profile("reference"), Engine::Shuttle, 1, None);
    let worker = Worker { program: Path::new("/bin/false"), arguments: &[] };
    let report = &run_all(&[job], 1, &worker, None, |_| {})[0];
    assert!(matches!(&report.ending, Ending::Failed(_)), "{:?}", report.ending);
}

#[test]
fn a_finding_is_shrunk_and_followed_to_the_same_violation() {
    let finding = finding();
    let threads = finding.threads.as_ref().unwrap();
    assert!(threads.schedule.switches() < 8, "{}", threads.schedule.switches());
    let replayed = replay(&finding, finding.profile.switches).unwrap();
    assert_eq!(replayed.same.map(|violation| Signature::from(&violation)), Some(finding.signature.into()));
    assert_eq!(replayed.diverges, None);
    assert!(replayed.timeline.violations.iter().any(|marked| marked.kind == Kind::ReadAfterFree));
}

#[test]
fn a_finding_is_gone_under_its_remedy() {
    let finding = finding();
    let remedy = profile("sglang-0.5.23 source_hold=on");
    assert!(replay(&finding, remedy.switches).unwrap().same.is_none());
}

#[test]
fn a_finding_comes_back_from_its_file() {
    let finding = finding();
    assert_eq!(Finding::parse("finding.json", finding.to_json().as_bytes()).unwrap(), finding);
}

#[test]
fn a_finding_of_another_model_is_refused() {
    let mut finding = finding();
    let threads = finding.threads.as_mut().unwrap();
    threads.shifts.pop();
    assert!(matches!(replay(&finding, finding.profile.switches), Err(ReplayError::Changed { .. })));
    finding.threads.as_mut().unwrap().slice = "no-such-slice".to_owned();
    assert!(matches!(replay(&finding, finding.profile.switches), Err(ReplayError::NoSlice { .. })));
    finding.threads = None;
    assert!(matches!(replay(&finding, finding.profile.switches), Err(ReplayError::NoThreads)));
}

#[test]
fn every_slice_has_a_name_of_its_own_and_fits_into_loom() {
    for model in all() {
        let slices = model.slices.iter().chain(&model.wholes).chain(&model.broken);
        let mut names: Vec<&str> = slices.map(|slice| slice.name.as_str()).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count, "{}", model.name);
        for slice in model.slices.iter().chain(&model.broken) {
            assert!((2..=4).contains(&slice.shifts.len()), "{}/{}", model.name, slice.name);
        }
    }
}
