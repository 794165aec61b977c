//! Bad files: one clear line, exit code 2, nothing overwritten.

use super::kit::{Desk, pagefence};
use std::path::PathBuf;

/// Files that nothing can be made of.
fn bad(desk: &Desk) -> Vec<PathBuf> {
    let huge = desk.path("huge.toml");
    std::fs::File::create(&huge).unwrap().set_len(1 << 40).unwrap();
    let folder = desk.path("folder.toml");
    std::fs::create_dir(&folder).unwrap();
    vec![
        desk.write("empty.toml", ""),
        desk.write("binary.toml", (0..=255).cycle().take(4096).collect::<Vec<u8>>()),
        desk.write("zeros.toml", [0; 4096]),
        desk.write("truncated.toml", "{\"schema\": \"pagefence-finding\", \"version\": 1, \"pro"),
        desk.write("deep.toml", "[".repeat(1 << 16)),
        desk.path("missing.toml"),
        huge,
        folder,
    ]
}

#[test]
fn findings_scopes_profiles_and_traces_are_refused_in_one_line() {
    let desk = Desk::new();
    let out = desk.write("out.json", "kept");
    let html = desk.write("out.html", "kept");
    for path in bad(&desk) {
        let file = path.to_str().unwrap();
        let (out, html) = (out.to_str().unwrap(), html.to_str().unwrap());
        let uses = [
            &["replay", file, "--html", html][..],
            &["minimize", file, "-o", out],
            &["hunt", "--scope", file],
            &["hunt", "--profile", file],
            &["prove", "--scope", file],
            &["audit", file, "--html", html],
            &["gate", file],
        ];
        for words in uses {
            // A trace is streamed: of a sparse file of a terabyte only the first line is looked at.
            let said = pagefence(words).refused();
            assert!(said.contains(file), "{words:?}: {said}");
        }
    }
    assert_eq!(std::fs::read_to_string(out).unwrap(), "kept");
    assert_eq!(std::fs::read_to_string(html).unwrap(), "kept");
    assert!(!desk.names().iter().any(|name| name.starts_with('.')), "a temporary file stays behind");
}

#[test]
fn mistakes_are_named_with_the_nearest_name() {
    let desk = Desk::new();
    let scope = desk.write("scope.toml", "name = 'x'\npage_sise = 2\n");
    let error = pagefence(["hunt", "--scope", scope.to_str().unwrap()]).refused();
    assert!(error.ends_with("scope.toml:2: unknown key `page_sise`; did you mean `page_size`?\n"), "{error}");
    let cases = [
        (&["hunt", "--scope", "abrot"][..], "did you mean `abort`?"),
        (&["hunt", "--profile", "refrence"], "did you mean `reference`?"),
        (&["hunt", "--set", "dor=on"], "did you mean `door`?"),
        (&["hunt", "--set", "door"], "write SWITCH=on or SWITCH=off"),
    ];
    for (words, expected) in cases {
        let error = pagefence(words).refused();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn a_place_that_can_not_be_written_is_named() {
    let desk = Desk::new();
    let trace = desk.write("trace.jsonl", "nothing");
    let error = pagefence(["audit", trace.to_str().unwrap()]).refused();
    assert!(error.contains("trace.jsonl:1: "), "{error}");
    assert_eq!(error.matches("the first line is not a header").count(), 1, "{error}");
}
