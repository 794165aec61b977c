//! A finding survives its file, and a damaged file is refused in one line.

use super::*;
use crate::explore::Budget;
use crate::explore::{ExhaustiveOptions, exhaustive};
use crate::lifetime::Kind;

/// What the unprotected version shows first in a small scope.
fn finding() -> Finding {
    let scope: Scope = toml::from_str(include_str!("../../scopes/abort.toml")).unwrap();
    let profile = Profile::preset("sglang-0.5.11").unwrap();
    let serving = Serving::new(Config { switches: profile.switches, scope: scope.clone() });
    let options = ExhaustiveOptions { symmetry: true, ..ExhaustiveOptions::default() };
    let budget = Budget { states: Some(20_000), ..Budget::default() };
    let all = exhaustive(&serving, &options, &budget);
    let found = all.findings.iter().find(|found| found.signature.kind == Kind::FreeInFlight).expect("the incident");
    Finding::new(found, profile, scope, "exhaustive", 7).unwrap()
}

#[test]
fn a_finding_round_trips_and_reproduces() {
    let finding = finding();
    let json = finding.to_json();
    assert!(json.contains("\"released\": null") || json.contains("\"released\": \"Decode"), "{json}");
    assert!(json.contains("\"door\": false"), "every switch is named: {json}");
    let read = Finding::parse("x.json", json.as_bytes()).unwrap();
    assert_eq!(read, finding);
    let again = read.reproduce(read.profile.switches);
    assert_eq!(again.same, Some((finding.violation.clone(), finding.seen)));
    assert_eq!(again.replayed.skipped, 0);
    let name = read.file_name();
    assert!(name.starts_with("free-in-flight-") && name.ends_with(".json") && name.len() == 28, "{name}");
}

#[test]
fn a_changed_profile_no_longer_shows_it() {
    let finding = finding();
    let again = finding.reproduce(Profile::reference().switches);
    assert_eq!(again.same, None);
}

#[test]
fn a_smaller_script_shows_the_same() {
    let finding = finding();
    let small = finding.minimise().unwrap();
    assert!(small.minimised && small.script.len() <= finding.script.len());
    assert_eq!(small.signature, finding.signature);
    assert_eq!(small.reproduce(small.profile.switches).same, Some((small.violation.clone(), small.seen)));
    assert_eq!(small.minimise().unwrap().script, small.script);
}

#[test]
fn damaged_files_are_refused_in_one_line() {
    let json = finding().to_json();
    let refused = |content: &str| Finding::parse("x.json", content.as_bytes()).unwrap_err().to_string();
    assert_eq!(refused(" \n"), "x.json: is empty, not a finding");
    assert!(refused(&json[..json.len() / 2]).starts_with("x.json:"), "{}", refused(&json[..json.len() / 2]));
    assert!(refused("{}").contains("is not a finding"), "{}", refused("{}"));
    let newer = json.replace("\"version\": 1,", "\"version\": 2,");
    assert_eq!(refused(&newer), "x.json: is a finding of version 2; this pagefence reads version 1");
    let pages = json.replace("\"page_size\": 2", "\"page_size\": 0");
    assert_eq!(refused(&pages), "x.json: scope `abort`: `page_size` must be at least 1");
    let switch = refused(&json.replace("\"door\"", "\"dor\""));
    assert!(switch.contains("unknown switch `dor`; did you mean `door`?"), "{switch}");
    let other = refused(&json.replacen("\"kind\": \"free-in-flight\"", "\"kind\": \"leak\"", 1));
    assert!(other.contains("contradicts itself"), "{other}");
    for at in (0..json.len()).step_by(97) {
        let error = refused(&json[..at]);
        assert!(!error.contains('\n'), "{error}");
    }
    assert!(Finding::parse("x.json", &[0xff; 64]).is_err());
}
