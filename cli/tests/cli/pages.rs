//! The HTML pages that commands write.

use super::kit::{Desk, pagefence, small_scope};

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
