//! `pagefence model`: the cell on threads.

use super::kit::{Desk, Said, names, pagefence};
use serde_json::Value;
use std::path::PathBuf;

/// The lost update of M07, as loom finds it: every schedule of a slice that has some two thousand.
fn lost_update(desk: &Desk) -> (Said, Vec<PathBuf>) {
    let folder = desk.path("found");
    let words = ["model", "run", "admission", "--slice", "handshake-meets-sender", "--profile", "sglang-0.5.23"];
    let words = words.into_iter().chain(["--engine", "loom", "--budget", "10m", "--jobs", "1", "--out"]);
    let said = pagefence(words.chain([folder.to_str().unwrap()])).is(1);
    let files = names(&folder).iter().map(|name| folder.join(name)).collect();
    (said, files)
}

#[test]
fn the_list_names_every_model_and_who_races() {
    let said = pagefence(["model", "list"]).is(0);
    for model in ["scheduler: ", "admission: ", "transfer: ", "release: "] {
        assert!(said.out.contains(&format!("\n{model}")) || said.out.starts_with(model), "{}", said.out);
    }
    let row = said.out.lines().find(|line| line.starts_with("handshake-meets-sender")).unwrap();
    assert!(row.contains("bootstrap thread 0, prefill scheduler, worker 0"), "{row}");
    let listed = pagefence(["--format", "json", "model", "list"]).is(0).json();
    let slice = listed.as_array().unwrap().iter().find(|slice| slice["slice"] == "handshake-meets-sender").unwrap();
    assert_eq!((&slice["model"], &slice["whole"]), (&Value::from("admission"), &Value::from(false)));
}

#[test]
fn a_run_says_how_it_ended_and_which_case_explains_what_it_met() {
    let desk = Desk::new();
    let (said, files) = lost_update(&desk);
    let row = said.out.lines().find(|line| line.contains("handshake-meets-sender") && line.contains("loom")).unwrap();
    assert!(row.contains("exhausted"), "{}", said.out);
    let found: Vec<&str> = said.out.lines().filter(|line| line.starts_with("stuck ")).collect();
    assert_eq!(found.len(), 3, "{}", said.out);
    assert!(found.iter().all(|line| line.trim_end().ends_with("M07")), "{found:?}");
    assert_eq!(files.len(), 3);
}

#[test]
fn the_same_words_that_two_cases_explain_in_two_places_are_two_findings() {
    let words = ["model", "run", "admission", "--slice", "handshake-meets-sender", "--slice", "abort-meets-sender"];
    let words = words.into_iter().chain(["--profile", "sglang-0.5.23", "--engine", "shuttle", "--budget", "10m"]);
    let said = pagefence(words.chain(["--iterations", "10000"])).is(1);
    let stuck = |line: &&str| line.starts_with("stuck ") && line.contains(" DecodeAlloc ");
    let cases: Vec<&str> = said.out.lines().filter(stuck).map(|line| line.split_whitespace().last().unwrap()).collect();
    assert_eq!(cases, ["M07", "M08"], "{}", said.out);
}

#[test]
fn a_schedule_is_followed_again_and_under_a_patch_it_shows_nothing() {
    let desk = Desk::new();
    let file = lost_update(&desk).1.remove(0);
    let file = file.to_str().unwrap();
    let page = desk.path("race.html");
    let said = pagefence(["model", "replay", file, "--html", page.to_str().unwrap()]).is(1);
    assert!(said.out.contains("\nreproduced\n"), "{}", said.out);
    assert!(std::fs::read_to_string(&page).unwrap().contains("<article"));
    let said = pagefence(["model", "replay", file, "--set", "locked_tables=on"]).is(0);
    assert!(said.out.contains(" is gone"), "{}", said.out);
    // The plain command follows the schedule too, under whichever profile.
    assert_eq!(pagefence(["replay", file]).code, Some(1));
    let said = pagefence(["replay", file, "--profile", "reference"]).is(0);
    assert!(said.out.contains("profile reference") && said.out.contains(" is gone"), "{}", said.out);
}

#[test]
fn a_schedule_that_belongs_elsewhere_is_refused_in_one_line() {
    let desk = Desk::new();
    let file = lost_update(&desk).1.remove(0);
    let text = std::fs::read_to_string(&file).unwrap();
    let mut finding: Value = serde_json::from_str(&text).unwrap();
    let refused = |name: &str, text: &str| {
        let path = desk.write(name, text);
        pagefence(["model", "replay", path.to_str().unwrap()]).refused()
    };
    assert!(refused("half.json", &text[..text.len() / 2]).contains("half.json"));
    finding["threads"]["slice"] = "gone".into();
    assert!(refused("gone.json", &finding.to_string()).contains("no slice `gone` in a model `admission`"));
    finding["threads"]["slice"] = "abort-meets-sender".into();
    assert!(refused("other.json", &finding.to_string()).contains("has changed since"));
    let minimised = pagefence(["minimize", file.to_str().unwrap()]).refused();
    assert!(minimised.contains("a schedule of threads is shrunk when it is found"), "{minimised}");
}

#[test]
fn what_does_not_exist_is_named() {
    let error = pagefence(["model", "run", "admision"]).refused();
    assert!(error.contains("there is no model `admision`"), "{error}");
    let error = pagefence(["model", "run", "admission", "--slice", "nothing"]).refused();
    assert!(error.contains("no slice is called so"), "{error}");
}
