//! Help says how; `SNAPSHOTS=overwrite cargo test` rewrites it.

use super::kit::pagefence;

const COMMANDS: [&str; 20] = [
    "check",
    "cases",
    "hunt",
    "prove",
    "replay",
    "minimize",
    "profiles",
    "scopes",
    "atlas",
    "compare",
    "promote",
    "nightly",
    "merge",
    "engine",
    "drive",
    "confirm",
    "conform",
    "audit",
    "gate",
    "completions",
];

#[test]
fn every_command_has_help_with_examples() {
    let main = pagefence(["--help"]).is(0).out;
    for command in COMMANDS {
        assert!(main.contains(command), "{command} is not in:\n{main}");
        let help = pagefence([command, "--help"]).is(0).out;
        assert!(help.contains("Example"), "{help}");
        assert!(help.contains(&format!("pagefence {command}")), "{help}");
        assert!(help.contains("--format"), "{help}");
    }
    assert!(main.contains("Exit codes: 0 all as declared, 1 something found or unexpected, 2 bad usage or input"));
}

#[test]
fn the_version_is_said() {
    assert_eq!(pagefence(["--version"]).is(0).out, format!("pagefence {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn bad_usage_ends_with_2() {
    for words in [&["hunt", "--budget", "soon"][..], &["nothing"], &["replay"], &["hunt", "--jobs", "0"], &["gate"]] {
        let said = pagefence(words).is(2);
        assert!(said.out.is_empty() && said.err.contains("error:"), "{}", said.err);
    }
    let error = pagefence(["--budget", "1s", "profiles"]).refused();
    assert!(error.contains("options of `check` stand before another command"), "{error}");
}

#[test]
fn completions_complete_every_command() {
    for shell in ["bash", "zsh", "fish"] {
        let text = pagefence(["completions", shell]).is(0).out;
        for command in COMMANDS {
            assert!(text.contains(command), "{shell} does not know {command}");
        }
    }
}
