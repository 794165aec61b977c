//! `pagefence nightly` and `pagefence merge`.

use super::kit::{Desk, Said, names, pagefence};
use std::path::{Path, PathBuf};

/// The checkout that this is.
fn checkout() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// A night of eleven small tasks: five corpora, six atlases.
const SMALL: &str = "limit = '1h'\natlas = { walks = 2 }\ncorpus = {}\n";

fn nightly(desk: &Desk, budgets: &str, out: &str, words: &[&str]) -> Said {
    let budgets = desk.write("budgets.toml", budgets);
    let (out, checkout) = (desk.path(out), checkout());
    let fixed = ["nightly", "--budgets", budgets.to_str().unwrap(), "--out", out.to_str().unwrap()];
    let checkout = ["--checkout", checkout.to_str().unwrap()];
    pagefence(fixed.into_iter().chain(checkout).chain(words.iter().copied()))
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn shards_together_are_the_whole_night() {
    let desk = Desk::new();
    let whole = nightly(&desk, SMALL, "whole", &[]).is(0);
    assert!(whole.out.contains("nightly: all as declared: 11 tasks"), "{}", whole.out);
    for shard in ["1/3", "2/3", "3/3"] {
        let said = nightly(&desk, SMALL, &shard[..1], &["--shard", shard]).is(0);
        assert!(said.out.contains("all as declared: 4 tasks") || said.out.contains("3 tasks"), "{}", said.out);
    }
    let folders = ["1", "2", "3", "merged", "whole"].map(|name| desk.path(name).to_str().unwrap().to_owned());
    let [one, two, three, merged, all] = folders.each_ref().map(String::as_str);
    pagefence(["merge", "--out", merged, one, two, three, "--previous", all]).is(0);
    let tasks = |folder: &str| names(&desk.path(folder).join("tasks"));
    assert_eq!(tasks("merged"), tasks("whole"));
    assert_eq!(tasks("merged").len(), 11);
    let page = read(&desk.path("merged").join("report.html"));
    assert!(page.contains("nothing has changed"), "merged is not the whole");
    assert_eq!(page.matches("rejection atlas, ").count(), 6);
    // Two of three are less than a night.
    let said = pagefence(["merge", "--out", desk.path("part").to_str().unwrap(), one, two]).is(1);
    assert!(said.out.contains("NOT COMPLETE"), "{}", said.out);
}

#[test]
fn a_night_that_was_killed_goes_on_where_it_was() {
    let desk = Desk::new();
    nightly(&desk, SMALL, "night", &[]).is(0);
    let tasks = desk.path("night").join("tasks");
    let kept = read(&tasks.join("atlas+reference.json"));
    std::fs::remove_file(tasks.join("corpus+script.json")).unwrap();
    std::fs::remove_file(desk.path("night").join("report.html")).unwrap();
    let said = nightly(&desk, SMALL, "night", &[]).is(0);
    assert!(said.out.contains("going on: 10 tasks done before"), "{}", said.out);
    assert!(said.out.contains("all as declared: 11 tasks"), "{}", said.out);
    assert_eq!(read(&tasks.join("atlas+reference.json")), kept, "what was done is not done again");
    assert!(tasks.join("corpus+script.json").exists() && desk.path("night").join("report.html").exists());
}

#[test]
fn what_is_found_fails_the_night_and_is_in_every_report() {
    let desk = Desk::new();
    let listed = pagefence(["--format", "json", "scopes"]).is(0).json();
    let scopes: Vec<&str> =
        listed["scopes"].as_array().unwrap().iter().map(|scope| scope["name"].as_str().unwrap()).collect();
    let at = scopes.iter().position(|name| *name == "incident-small").unwrap() + 1;
    let budgets = "limit = '1h'\nprove = { profile = 'sglang-0.5.11', states = 100_000 }\n";
    // One scope alone: as many shards as there are scopes.
    let said = nightly(&desk, budgets, "night", &["--shard", &format!("{at}/{}", scopes.len())]).is(1);
    assert!(said.out.contains("1 of 1 task NOT AS DECLARED"), "{}", said.out);
    assert!(said.out.contains("NEW: stale-read"), "{}", said.out);
    let night = desk.path("night");
    let findings = names(&night.join("findings"));
    assert!(findings.iter().any(|name| name.starts_with("stale-read-")), "{findings:?}");
    let stale = night.join("findings").join(findings.iter().find(|name| name.starts_with("stale-read-")).unwrap());
    pagefence(["replay", stale.to_str().unwrap()]).is(1);
    let sarif: serde_json::Value = serde_json::from_str(&read(&night.join("results.sarif"))).unwrap();
    assert_eq!(sarif["runs"][0]["results"].as_array().unwrap().len(), findings.len());
    assert!(read(&night.join("junit.xml")).contains("failures=\"1\""));
    let page = read(&night.join("report.html"));
    assert_eq!(page.matches("<article").count(), findings.len());
    assert!(page.contains("see SECURITY.md"));
    // It is no news to the night after.
    let again = nightly(
        &desk,
        budgets,
        "again",
        &["--shard", &format!("{at}/{}", scopes.len()), "--previous", night.to_str().unwrap()],
    );
    assert!(again.is(1).out.contains("nothing has changed"));
}

#[test]
fn a_folder_that_holds_something_else_is_left_alone() {
    let desk = Desk::new();
    nightly(&desk, SMALL, "night", &["--shard", "1/11"]).is(0);
    let other = nightly(&desk, SMALL, "night", &["--shard", "2/11"]).refused();
    assert!(other.contains("holds another night (shard 1/11)"), "{other}");
    let other = nightly(&desk, SMALL, "night", &["--shard", "1/11", "--seed", "5"]).refused();
    assert!(other.contains("with seed 0"), "{other}");
    std::fs::create_dir(desk.path("full")).unwrap();
    desk.write("full/thesis.tex", "mine");
    assert!(nightly(&desk, SMALL, "full", &[]).refused().contains("is not empty, and no night"));
    assert_eq!(names(&desk.path("full")), ["thesis.tex"]);
    desk.write("file", "mine");
    assert!(nightly(&desk, SMALL, "file", &[]).refused().contains("file"));
}

#[test]
fn what_is_wrong_is_said_in_a_line() {
    let desk = Desk::new();
    nightly(&desk, SMALL, "night", &["--shard", "1/11"]).is(0);
    nightly(&desk, SMALL, "other", &["--shard", "2/11", "--seed", "9"]).is(0);
    let path = |name: &str| desk.path(name).to_str().unwrap().to_owned();
    let merge = |shards: &[&str]| {
        let out = path("merged");
        let shards: Vec<String> = shards.iter().map(|name| path(name)).collect();
        pagefence(["merge", "--out", &out].into_iter().chain(shards.iter().map(String::as_str))).refused()
    };
    assert!(merge(&["night", "other"]).contains("of another night"));
    assert!(merge(&["nowhere"]).contains("there is no night in it"));
    assert!(!desk.path("merged").exists(), "nothing is made of half a merge");
    let nowhere = path("nowhere");
    assert!(nightly(&desk, SMALL, "n", &["--previous", &nowhere]).refused().contains("there is no night in it"));
    assert!(nightly(&desk, "limit = 3", "n", &[]).refused().contains("budgets.toml"));
    let fuzz = "limit = '1m'\nfuzz = { each = '1s' }\n";
    let error = nightly(&desk, fuzz, "fuzz", &["--checkout", &nowhere]);
    assert!(error.code == Some(2), "two checkouts are given");
    desk.write("night/tasks/corpus+script.json", "{ \"task\": ");
    let broken = pagefence(["merge", "--out", &path("m"), &path("night")]).refused();
    assert!(broken.contains("corpus+script.json") && broken.contains("is not of this version"), "{broken}");
}

/// A disk that is full, as a limit on the size of files.
#[cfg(unix)]
#[test]
fn on_a_full_disk_nothing_is_half_written() {
    let desk = Desk::new();
    let budgets = desk.write("budgets.toml", SMALL);
    let script =
        "trap '' XFSZ; ulimit -f 1; exec \"$0\" nightly --budgets \"$1\" --out \"$2\" --checkout \"$3\" --jobs 1";
    let output = std::process::Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_pagefence")])
        .args([&budgets, &desk.path("night"), &checkout()])
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("too large") && said.contains("what was done is kept"), "{said}");
    for name in names(&desk.path("night").join("tasks")) {
        let record = read(&desk.path("night").join("tasks").join(&name));
        assert!(serde_json::from_str::<serde_json::Value>(&record).is_ok(), "{name}: {record}");
    }
    assert!(!desk.path("night").join("report.html").exists());
    // With room again, the same command goes on.
    nightly(&desk, SMALL, "night", &["--jobs", "1"]).is(0);
}
