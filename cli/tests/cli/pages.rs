//! The HTML pages that commands write.

use super::kit::{Desk, pagefence, small_scope};
use std::io::Write as _;

/// The page at `path`; it must need nothing else.
fn page(path: &std::path::Path) -> String {
    let page = std::fs::read_to_string(path).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>"), "{page}");
    assert!(!page.contains("<script") && !page.contains(" src="), "it loads something");
    page
}

#[test]
fn a_hunt_draws_each_finding() {
    let desk = Desk::new();
    let (scope, path) = (small_scope(&desk), desk.path("hunt.html"));
    let words = ["hunt", "--profile", "sglang-0.5.11", "--scope", scope.to_str().unwrap(), "--explorers", "exhaustive"];
    let more = ["--jobs", "1", "--budget", "10m", "--format", "json", "--html", path.to_str().unwrap()];
    let findings = pagefence(words.into_iter().chain(more)).is(1).json()["findings"].as_array().unwrap().len();
    assert!(findings > 1);
    let page = page(&path);
    assert_eq!(page.matches("<article").count(), findings);
    assert!(page.contains(&format!("<h1>pagefence hunt: {findings} findings</h1>")), "{page}");
    assert!(page.contains("sglang-0.5.11") && page.contains("closed: every reachable state was visited"), "{page}");
}

#[test]
fn a_hunt_without_findings_draws_a_page_without_timelines() {
    let desk = Desk::new();
    let text = std::fs::read_to_string(small_scope(&desk)).unwrap();
    let scope = desk.write("one.toml", text.replace(", { prompt = 2 }", ""));
    let path = desk.path("hunt.html");
    let words = ["hunt", "--profile", "reference", "--scope", scope.to_str().unwrap(), "--explorers", "exhaustive"];
    let said = pagefence(words.into_iter().chain(["--jobs", "1", "--html", path.to_str().unwrap()])).is(0);
    assert!(said.out.ends_with(&format!("written to {}\n", path.display())), "{}", said.out);
    let page = page(&path);
    assert!(page.contains("<h1>pagefence hunt: 0 findings</h1>") && !page.contains("<article"), "{page}");
}

#[test]
fn a_page_that_can_not_be_written_is_named() {
    let desk = Desk::new();
    let (scope, path) = (small_scope(&desk), desk.path("missing/hunt.html"));
    let words = ["hunt", "--profile", "sglang-0.5.11", "--scope", scope.to_str().unwrap(), "--explorers", "exhaustive"];
    let error = pagefence(words.into_iter().chain(["--jobs", "1", "--html", path.to_str().unwrap()])).refused();
    assert!(error.contains("cannot write") && error.contains("missing/hunt.html"), "{error}");
    assert_eq!(desk.names(), ["small.toml"]);
}

/// A recording of the library's tests.
fn recording(name: &str) -> String {
    format!("{}/../tests/traces/{name}.jsonl", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn an_audit_tells_what_happened_around_each_violation() {
    let desk = Desk::new();
    let path = desk.path("audit.html");
    let trace = recording("incident-0.5.11");
    let said = pagefence(["audit", &trace, "--html", path.to_str().unwrap()]).is(1);
    let row = |number: &str| {
        let row = said.out.lines().find(|line| line.split_whitespace().next() == Some(number));
        row.unwrap_or_else(|| panic!("no line {number} in:\n{}", said.out)).to_owned()
    };
    assert!(row("53").contains('①') && row("53").contains("gives pages 17-66 to B"), "{}", said.out);
    assert!(row("73").contains('✖') && said.out.contains("numbers are lines of the trace"), "{}", said.out);
    let page = page(&path);
    assert_eq!(page.matches("<article").count(), 1);
    assert!(page.contains("gives pages 17-66 to B") && page.contains("request long"), "{page}");
}

#[test]
fn a_clean_trace_has_no_timeline() {
    let desk = Desk::new();
    let path = desk.path("audit.html");
    let said = pagefence(["audit", &recording("incident-0.5.22"), "--html", path.to_str().unwrap()]).is(0);
    assert!(!said.out.contains("what happens"), "{}", said.out);
    assert!(!page(&path).contains("<article"));
}

#[test]
fn a_gzipped_trace_is_audited_like_its_text_and_half_of_one_is_refused() {
    let desk = Desk::new();
    let text = std::fs::read(recording("incident-0.5.11")).unwrap();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(&text).unwrap();
    let packed = encoder.finish().unwrap();
    let plain = pagefence(["audit", &recording("incident-0.5.11")]).is(1).out;
    let whole = desk.write("whole", &packed);
    let out = pagefence(["audit", whole.to_str().unwrap()]).is(1).out;
    assert_eq!(out.replace(whole.to_str().unwrap(), &recording("incident-0.5.11")), plain);
    let half = desk.write("half", &packed[..packed.len() / 2]);
    assert!(pagefence(["audit", half.to_str().unwrap()]).refused().contains("half"));
}

#[cfg(unix)]
#[test]
fn a_pipe_is_audited_without_timelines() {
    let trace = std::fs::File::open(recording("incident-0.5.11")).unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_pagefence"));
    let mut child = command
        .args(["audit", "/dev/stdin"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::io::copy(&mut { trace }, &mut child.stdin.take().unwrap()).unwrap();
    let said = child.wait_with_output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    assert_eq!(said.status.code(), Some(1));
    assert!(text(&said.stdout).contains("4 violations: 4 stale-read"), "{}", text(&said.stdout));
    assert!(text(&said.stderr).contains("no timelines, since a pipe can't be read twice"), "{}", text(&said.stderr));
}
