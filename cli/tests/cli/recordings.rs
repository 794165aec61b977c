//! What real releases were recorded doing under `pagefence drive`: each recording is audited again. How they were made, and what
//! they show, is in docs/engines.md.

use super::kit::pagefence;

/// A case's script, the releases that it was carried out on, and the kinds that the audit of each must report.
const RECORDINGS: &[(&str, &[&str], &[&str])] = &[
    ("INCIDENT-SMALL", &["0.5.11", "0.5.18", "0.5.19"], &["stale-read"]),
    ("INCIDENT-SMALL", &["0.5.20", "0.5.21", "0.5.22", "0.5.23"], &[]),
    // Decode frees its pages at once, under the posted write; from 0.5.19 on prefill gives up its metadata row under it as well.
    ("S14", &["0.5.11"], &["free-in-flight", "write-after-free"]),
    ("S14", &["0.5.19", "0.5.20"], &["free-in-flight", "read-after-free", "write-after-free"]),
    // Decode holds them; prefill's row has no hold.
    ("S14", &["0.5.21", "0.5.22", "0.5.23"], &["read-after-free"]),
    // Decode's release timer passes before the write is over.
    ("S15", &["0.5.21", "0.5.22", "0.5.23"], &["free-in-flight", "read-after-free", "write-after-free"]),
    // Prefill aborts under the posted write: its source pages are given up in every release; decode's are, until 0.5.21.
    ("S20", &["0.5.11", "0.5.19", "0.5.20"], &["free-in-flight", "read-after-free", "write-after-free"]),
    ("S20", &["0.5.21", "0.5.22", "0.5.23"], &["free-in-flight", "read-after-free"]),
    // Findings of the model, carried out by `pagefence confirm`.
    ("M04", &["0.5.22", "0.5.23"], &["crash", "free-in-flight"]),
];

#[test]
fn every_recording_of_a_real_release_shows_what_it_showed() {
    for (script, releases, kinds) in RECORDINGS {
        for release in *releases {
            let path = format!("{}/../tests/traces/engines/{script}-{release}.jsonl.gz", env!("CARGO_MANIFEST_DIR"));
            let json = pagefence(["audit", &path, "--format", "json"]).is(i32::from(!kinds.is_empty())).json();
            let findings = json["traces"][0]["findings"].as_array().unwrap();
            let mut found: Vec<&str> =
                findings.iter().map(|finding| finding["violation"]["kind"].as_str().unwrap()).collect();
            found.sort_unstable();
            found.dedup();
            assert_eq!(found, *kinds, "{path}");
        }
    }
}

#[test]
fn every_recording_is_in_the_table() {
    let there = super::kit::names(format!("{}/../tests/traces/engines", env!("CARGO_MANIFEST_DIR")).as_ref());
    let named = |(script, releases, _): &(&str, &[&str], &[&str])| {
        releases.iter().map(|release| format!("{script}-{release}.jsonl.gz")).collect::<Vec<_>>()
    };
    let mut table: Vec<String> = RECORDINGS.iter().flat_map(named).collect();
    table.sort();
    assert_eq!(there, table);
}
