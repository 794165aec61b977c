//! `pagefence atlas`.

use super::kit::pagefence;

#[test]
fn the_door_keeps_a_rejected_request_out_of_the_queues_of_prefill() {
    let row = |profile: &str| {
        let said = pagefence(["atlas", "--profile", profile, "--walks", "50"]).is(0);
        let row = said.out.lines().find(|line| line.starts_with("kv-budget ")).unwrap().to_owned();
        row.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).map(str::to_owned).collect::<Vec<String>>()
    };
    // Producer, then grammar, bootstrap, waiting, forward, inflight of prefill.
    let (old, new) = (row("sglang-0.5.11"), row("sglang-0.5.23"));
    assert_eq!((old[1].as_str(), new[1].as_str()), (".", "."), "it has no grammar");
    assert!(old[5] != "." && new[5] == ".", "{old:?} {new:?}");
}

#[test]
fn an_atlas_is_the_same_in_json_and_of_profiles_that_exist() {
    let words = ["--format", "json", "atlas", "--profile", "reference", "--walks", "20"];
    let drawn = pagefence(words).is(0).json();
    assert_eq!(drawn[0]["profile"], "reference");
    assert!(drawn[0]["cells"].as_array().unwrap().iter().all(|cell| cell["walks"].as_u64().unwrap() > 0));
    assert_eq!(pagefence(words).is(0).json(), drawn);
    let error = pagefence(["atlas", "--profile", "sglang-0.5.2"]).refused();
    assert!(error.contains("did you mean `sglang-0.5.20`?"), "{error}");
}
