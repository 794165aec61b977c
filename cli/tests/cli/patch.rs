//! `pagefence compare` and `pagefence promote`.

use super::kit::{Desk, names, pagefence};

#[test]
fn what_a_switch_brings_and_takes_is_told() {
    let words = ["compare", "sglang-0.5.22", "--set", "poison=off", "--scope", "huge-batch", "--atlas", "5"];
    let said = pagefence(words).is(1);
    assert!(
        said.out.contains("appeared  huge-batch  write-after-free: WorkerPost, DecodeDrained, Land"),
        "{}",
        said.out
    );
    assert!(said.out.contains("gone      huge-batch  leak: DecodeAlloc, Final"), "{}", said.out);
    assert!(said.out.contains("compare: 4 findings APPEARED, 3 gone"), "{}", said.out);
    // The other way round what appeared is gone.
    let back = ["compare", "sglang-0.5.22", "--set", "poison_recovers=on", "--scope", "huge-batch", "--atlas", "5"];
    let said = pagefence(back).is(0);
    assert!(said.out.contains("compare: 0 findings APPEARED"), "{}", said.out);
    let json = pagefence(["--format", "json"].iter().chain(&words)).is(1).json();
    assert_eq!(json["scopes"][0]["appeared"].as_array().unwrap().len(), 4);
}

#[test]
fn the_door_changes_the_atlas() {
    let words = ["compare", "sglang-0.5.20", "--set", "door=on", "--scope", "planted", "--atlas", "20"];
    let said = pagefence(words);
    assert!(said.out.contains("rejection atlas") && said.out.contains("not reached"), "{}", said.out);
}

#[test]
fn there_must_be_two_profiles() {
    assert!(pagefence(["compare", "sglang-0.5.22"]).refused().contains("both are the same"));
    assert!(pagefence(["compare", "sglang-0.5.22", "sglang-0.5.2"]).refused().contains("sglang-0.5.20"));
}

#[test]
fn a_crash_becomes_a_regression_and_a_case() {
    let desk = Desk::new();
    let seed = concat!(env!("CARGO_MANIFEST_DIR"), "/../corpus/script/S14");
    let (into, cases) = (desk.path("regressions"), desk.path("cases"));
    std::fs::create_dir(&cases).unwrap();
    let places = ["--into", into.to_str().unwrap(), "--cases", cases.to_str().unwrap()];
    let words: Vec<&str> = ["promote", seed, "--declared", "--case", "M99"].into_iter().chain(places).collect();
    let said = pagefence(&words).is(0);
    assert!(said.out.contains("M99.toml") && said.out.contains("S14"), "{}", said.out);
    let files = names(&into);
    assert!(!files.is_empty() && files.iter().all(|name| name.ends_with(".json")), "{files:?}");
    pagefence(["replay", into.join(&files[0]).to_str().unwrap()]).is(1);
    assert!(pagefence(&words).refused().contains("is there already"));
    // A finding can be promoted as well.
    let again = desk.path("again");
    let finding = into.join(&files[0]);
    pagefence(["promote", finding.to_str().unwrap(), "--into", again.to_str().unwrap()]).is(0);
    assert_eq!(names(&again), files[..1]);
}

#[test]
fn what_shows_nothing_is_not_promoted() {
    let desk = Desk::new();
    let empty = desk.write("crash-1", [0, 0, 0]);
    let empty = empty.to_str().unwrap();
    assert!(pagefence(["promote", empty]).refused().contains("--target"));
    assert!(pagefence(["promote", empty, "--target", "script"]).refused().contains("shows nothing"));
    assert!(pagefence(["promote", empty, "--target", "audit"]).refused().contains("is no crash"));
    assert!(pagefence(["promote", empty, "--target", "scripts"]).code == Some(2));
}
