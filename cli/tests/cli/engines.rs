//! The commands about real engines, up to where an engine is needed: in place of Python runs a script of the shell.

use super::kit::{Desk, Said, pagefence_with};
use std::path::PathBuf;
use std::process::Command;

/// An installer that knows two releases, and has one of them.
const LISTS: &str = r#"case "$3" in
list) echo '[{"version":"0.5.11","torch":"2.9.1","python_path":null},{"version":"0.5.22","torch":"2.11.0","python_path":"/nowhere"}]' ;;
*) echo "the disk is too small" >&2; exit 1 ;;
esac"#;

/// A folder for engines, and a `python` that does what a script says.
struct Shop {
    desk: Desk,
    python: PathBuf,
}

impl Shop {
    fn new(script: &str) -> Self {
        let desk = Desk::new();
        let python = desk.path("python");
        // Written by another process: one that this process has open for writing could not be run.
        let write = r#"printf '#!/bin/sh\n%s\n' "$2" > "$1" && chmod +x "$1""#;
        let done = Command::new("sh").args(["-c", write, "sh"]).arg(&python).arg(script).status().unwrap();
        assert!(done.success());
        Self { desk, python }
    }

    fn run<const N: usize>(&self, words: [&str; N]) -> Said {
        let engines = self.desk.path("engines");
        pagefence_with(words, [("PAGEFENCE_PYTHON", &self.python), ("PAGEFENCE_ENGINES", &engines)])
    }
}

#[test]
fn engines_are_listed_with_the_profile_that_stands_for_them() {
    let shop = Shop::new(LISTS);
    let said = shop.run(["engine", "list"]).is(0);
    let rows: Vec<Vec<&str>> = said.out.lines().map(|line| line.split_whitespace().collect()).collect();
    assert!(rows.contains(&vec!["sglang==0.5.11", "2.9.1", "sglang-0.5.11", "no"]), "{}", said.out);
    assert!(rows.contains(&vec!["sglang==0.5.22", "2.11.0", "sglang-0.5.22", "yes"]), "{}", said.out);
    let json = shop.run(["engine", "list", "--format", "json"]).is(0).json();
    assert_eq!(json["releases"][1]["version"], "0.5.22");
}

#[test]
fn an_engine_that_is_unknown_or_not_there_is_refused_with_what_to_do() {
    let shop = Shop::new(LISTS);
    for words in [["engine", "install", "sglang==0.4"], ["engine", "remove", "0.4"]] {
        let error = shop.run(words).refused();
        assert!(error.contains("unknown engine") && error.contains("known: sglang==0.5.11, sglang==0.5.22"), "{error}");
    }
    let missing = "sglang==0.5.11 is not installed: pagefence engine install sglang==0.5.11";
    for command in ["drive", "confirm"] {
        let error = shop.run([command, "INCIDENT-SMALL", "--engine", "sglang==0.5.11"]).refused();
        assert!(error.contains(missing), "{error}");
    }
    assert!(shop.run(["conform", "--engine", "0.5.11"]).refused().contains(missing));
    assert!(shop.run(["engine", "remove", "0.5.11"]).refused().contains("is not installed"));
}

#[test]
fn an_installer_that_fails_is_left_to_say_why() {
    let said = Shop::new(LISTS).run(["engine", "install", "sglang==0.5.11"]).is(2);
    let lines: Vec<&str> = said.err.lines().collect();
    assert_eq!(lines[0], "the disk is too small");
    assert!(lines[1].contains("install sglang==0.5.11: failed"), "{}", said.err);
}

#[test]
fn a_python_that_is_none_is_named() {
    let error = Shop::new("echo 'no module' >&2; exit 1").run(["engine", "list"]).refused();
    assert!(error.contains("can't run the installer: no module"), "{error}");
    let mut shop = Shop::new("");
    shop.python = shop.desk.path("nothing");
    let error = shop.run(["engine", "list"]).refused();
    assert!(error.contains("nothing") && error.contains("PAGEFENCE_PYTHON"), "{error}");
}

#[test]
fn an_engine_that_does_not_start_is_named_with_its_last_words() {
    let script = format!("case \"$3\" in node) echo 'no torch here' >&2; exit 1;; esac\n{LISTS}");
    let said = Shop::new(&script).run(["drive", "INCIDENT-SMALL", "--engine", "sglang==0.5.22"]).is(2);
    assert!(said.err.contains("the prefill engine has ended before it was ready"), "{}", said.err);
}

#[test]
fn what_no_engine_can_carry_out_is_said() {
    let shop = Shop::new(LISTS);
    let run = |word| shop.run(["drive", word, "--engine", "sglang==0.5.22"]).refused();
    assert!(run("INCIDENT-SMAL").contains("did you mean the case `INCIDENT-SMALL`?"));
    assert!(run("M07").contains("it takes threads to see it"));
    let said = shop.run(["confirm", "M01", "--engine", "sglang==0.5.22"]).is(0);
    assert!(said.out.contains("not expressible"), "{}", said.out);
}
