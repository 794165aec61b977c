//! The state spaces of the shipped scopes are pinned: how many states and transitions, a digest of all transitions, how
//! many findings. A change of the protocol shows here even where no verdict changes; see CONTRIBUTING.md, pinned digests.
//!
//! The reference is pinned in every scope, and there this is also the proof that it closes clean. The versions are
//! pinned where their space closes within some ten thousand states.

use pagefence::cell::{Config, Profile};
use pagefence::explore::{Budget, ExhaustiveOptions, Serving, exhaustive};
use pagefence::library;
use pagefence::lifetime::Severity;
use std::collections::BTreeSet;

/// A row: profile, scope, states, transitions, digest, findings, as `prove` counts them by default.
const PINNED: &str = include_str!("state_spaces.txt");

fn rows() -> impl Iterator<Item = Vec<&'static str>> {
    PINNED.lines().filter(|line| !line.starts_with('#')).map(|line| line.split_whitespace().collect())
}

/// Searches the scope of `row` and returns the row as it is now.
fn searched(profile: &str, scope: &str) -> String {
    let switches = Profile::preset(profile).unwrap().switches;
    let config = Config { switches, scope: library::scope(scope).unwrap() };
    let options = ExhaustiveOptions { symmetry: true, jobs: 2, stop_at: Some(Severity::Corruption) };
    let found = exhaustive(&Serving::new(config), &options, &Budget::default());
    assert!(found.closed, "{profile} in {scope} does not close");
    let findings = found.findings.len();
    format!("{profile} {scope} {} {} {:016x} {findings}", found.states, found.transitions, found.digest)
}

/// Searches every row whose profile is `wanted`, and fails with the rows that have changed.
fn check(wanted: impl Fn(&str) -> bool) {
    let rows: Vec<_> = rows().filter(|row| wanted(row[0])).collect();
    assert!(!rows.is_empty());
    let now = rows.iter().map(|row| (row.join(" "), searched(row[0], row[1])));
    let changed: Vec<String> = now.filter(|(pinned, now)| pinned != now).map(|(_, now)| now).collect();
    assert!(changed.is_empty(), "state spaces have changed; they are now:\n{}", changed.join("\n"));
}

#[test]
fn the_versions_have_the_state_spaces_that_are_pinned() {
    check(|profile| profile != "reference");
}

#[test]
fn the_reference_has_the_state_spaces_that_are_pinned() {
    check(|profile| profile == "reference");
}

#[test]
fn the_reference_is_pinned_clean_in_every_shipped_scope() {
    let clean: BTreeSet<&str> = rows().filter(|row| row[0] == "reference" && row[5] == "0").map(|row| row[1]).collect();
    let shipped: Vec<String> = library::scopes().map(|scope| scope.name).collect();
    let missing: Vec<&String> = shipped.iter().filter(|scope| !clean.contains(scope.as_str())).collect();
    assert!(missing.is_empty(), "not pinned, or not clean: {missing:?}");
}
