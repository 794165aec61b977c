//! The faults that live between two accesses: where threads must show them, and where they must not. The cases say so.

mod common;

use common::{SEED, run};
use pagefence::cases::{Case, Expected, Suite, Verdict};
use pagefence_models::Job;
use pagefence_models::races::{Effort, jobs, row, schedule_shows};
use std::collections::HashSet;

/// Until a fault that must be found counts as missing, and how long one is looked for that must not be found.
const EFFORT: Effort = Effort { seed: SEED, found: 40_000, held: 3_000 };

/// Races that each engine must find alone, since their slices are so small. S31 is lost to loom when to be heard is no access
/// (`engine::loom::Heard`).
const BOTH: [(&str, &str); 7] = [
    ("S15", "transfer/late-landing"),
    ("S27", "transfer/error-with-sibling"),
    ("S31", "scheduler/late-row-meets-commit"),
    ("M07", "admission/handshake-meets-sender"),
    ("M08", "admission/abort-meets-sender"),
    ("M11", "admission/abort-meets-late-handshake"),
    ("M12", "admission/late-abort-meets-sender"),
];

#[test]
fn each_race_of_a_case_is_found_where_it_must_be_and_nowhere_else() {
    let suite = Suite::shipped();
    let trials = suite.trials(|_| true).unwrap();
    let of_each: Vec<Vec<Job>> = trials.iter().map(|trial| jobs(trial, &EFFORT).unwrap()).collect();
    let mut reports = run(&of_each.concat()).into_iter();
    let mut by_both = HashSet::new();
    for (trial, jobs) in trials.iter().zip(&of_each) {
        let own: Vec<_> = reports.by_ref().take(jobs.len()).collect();
        let row = row(trial, &own).unwrap();
        assert_eq!(row.verdict, Verdict::AsDeclared, "{} on {} in {}", row.case, row.profile, row.scope);
        let both = BOTH.iter().find(|(case, place)| row.case == *case && row.scope == *place);
        if let (Expected::Found, Some(both)) = (trial.expected, both) {
            by_both.insert(both);
            assert_eq!(row.by, ["loom", "shuttle"], "{} on {} in {}", row.case, row.profile, row.scope);
        }
    }
    assert_eq!(by_both.len(), BOTH.len(), "{by_both:?}");
}

#[test]
fn the_schedule_of_a_race_shows_it_on_its_first_profile_and_on_none_that_holds() {
    let suite = Suite::shipped();
    let races = suite.cases().iter().flat_map(|case| case.races.iter().map(move |race| (case, race)));
    let carried: Vec<_> = races.filter(|(_, race)| race.schedule.is_some()).collect();
    assert!(!carried.is_empty());
    for (case, race) in carried {
        let shows = |words: &String| schedule_shows(case, race, &Case::profile(words).unwrap()).unwrap();
        assert_eq!(shows(&race.found[0]), Some(true), "{} in {}", case.id, race.place);
        for held in &race.held {
            assert_ne!(shows(held), Some(true), "{} in {} on {held}", case.id, race.place);
        }
    }
}

#[test]
fn the_faults_that_live_between_two_accesses_have_races() {
    let suite = Suite::shipped();
    for id in ["S20", "S27", "S31", "S36", "S38", "S39"] {
        let case = suite.cases().iter().find(|case| case.id == id).unwrap();
        assert!(case.races.iter().any(|race| !race.held.is_empty()), "{id}");
    }
}
