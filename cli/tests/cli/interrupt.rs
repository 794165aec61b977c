//! Ctrl-C ends a long command cleanly.

use super::kit::{Desk, small_scope};
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Command, Stdio};

/// Runs `pagefence`, presses Ctrl-C once it has printed a line that starts with `mark`, and returns its exit code and
/// all that it printed. Nothing here waits for a time to pass: the command would go on for an hour.
fn interrupted(words: &[&str], mark: &str) -> (Option<i32>, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_pagefence"))
        .args(words)
        .env("CI", "1")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut said = String::new();
    loop {
        let from = said.len();
        assert_ne!(out.read_line(&mut said).unwrap(), 0, "it ended by itself:\n{said}");
        if said[from..].starts_with(mark) {
            break;
        }
    }
    let pressed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(pressed.success());
    out.read_to_string(&mut said).unwrap();
    (child.wait().unwrap().code(), said)
}

#[test]
fn a_hunt_keeps_what_it_found() {
    let desk = Desk::new();
    let scope = small_scope(&desk);
    let words = ["hunt", "--profile", "reference", "--scope", scope.to_str().unwrap(), "--explorers", "swarm"];
    let words: Vec<&str> = words.into_iter().chain(["--budget", "1h", "--jobs", "1"]).collect();
    let (code, said) = interrupted(&words, "hunt: seed 0");
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("TRUNCATED: interrupted") && said.contains("nothing found; that is no proof"), "{said}");
    assert!(said.ends_with("interrupted: what was found until then is above\n"), "{said}");
}

#[test]
fn a_check_that_was_cut_short_is_no_pass() {
    let (code, said) = interrupted(&["--budget", "1h", "--jobs", "1", "--seed", "7"], "canary: ");
    assert!(said.starts_with("check: seed 7, hunt 3600s, jobs 1\n"), "{said}");
    assert!(said.ends_with("interrupted: what was found until then is above\n"), "{said}");
    assert_eq!(code, Some(1), "{said}");
}

#[test]
fn a_run_of_the_models_keeps_what_it_has_met() {
    let words = ["model", "run", "admission", "--slice", "rooms", "--profile", "sglang-0.5.23", "--budget", "1h"];
    let words: Vec<&str> = words.into_iter().chain(["--jobs", "1"]).collect();
    let (code, said) = interrupted(&words, "model run: ");
    assert!(said.contains("interrupted: what was met until then is above; "), "{said}");
    // The only run had begun, or had not.
    assert!(said.contains("1 run not begun") || said.contains("truncated"), "{said}");
    // Whatever it has met by then, it says so.
    assert_eq!(code, Some(i32::from(!said.contains("nothing found"))), "{said}");
}
