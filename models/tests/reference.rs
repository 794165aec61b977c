//! The reference holds in every model, under every engine.

mod common;

use common::{job, run};
use pagefence::cell::Profile;
use pagefence_models::{Ending, Engine, Report, all};

/// What a run met, in words.
fn met(report: &Report) -> Vec<String> {
    report.met.iter().map(|met| format!("{:?}", met.signature)).collect()
}

#[test]
fn it_holds_in_every_schedule_of_every_slice_with_three_preemptions() {
    let jobs: Vec<_> = all()
        .iter()
        .flat_map(|model| model.slices.iter().map(|slice| (model.name, slice.name.clone())).collect::<Vec<_>>())
        .map(|(model, slice)| job(&format!("{model}/{slice}"), Profile::reference(), Engine::LOOM, u64::MAX, None))
        .collect();
    for report in run(&jobs) {
        let place = format!("{}/{}", report.job.model, report.job.slice);
        assert_eq!((&report.ending, met(&report)), (&Ending::Exhausted, vec![]), "{place}");
        assert!(report.executions > 10, "{place}: {} schedules are no race", report.executions);
    }
}

#[test]
fn it_holds_in_random_schedules_of_every_slice_and_whole_cell() {
    let places = all().iter().flat_map(|model| {
        let slices = model.slices.iter().map(|slice| (&slice.name, 2_000));
        let wholes = model.wholes.iter().map(|whole| (&whole.name, 1_000));
        slices
            .chain(wholes)
            .map(move |(slice, executions)| (format!("{}/{slice}", model.name), executions))
            .collect::<Vec<_>>()
    });
    let jobs: Vec<_> = places
        .map(|(place, executions)| job(&place, Profile::reference(), Engine::Shuttle, executions, None))
        .collect();
    for report in run(&jobs) {
        let place = format!("{}/{}", report.job.model, report.job.slice);
        assert_eq!((&report.ending, met(&report)), (&Ending::Truncated, vec![]), "{place}");
        assert_eq!(report.executions, report.job.executions, "{place}");
    }
}
