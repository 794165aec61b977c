//! Golden files: what people look at, looked at. `PAGEFENCE_UPDATE_GOLDEN=1 cargo test report` rewrites them.

use super::{TerminalOptions, render_mermaid, render_terminal, sample};
use std::path::Path;

fn golden(name: &str, actual: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/report/testdata").join(name);
    if std::env::var_os("PAGEFENCE_UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, actual).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(expected == actual, "{name} differs; expected:\n{expected}\nactual:\n{actual}");
}

fn terminal(timeline: &super::Timeline, options: TerminalOptions) -> String {
    let mut out = String::new();
    render_terminal(timeline, &options, &mut out).unwrap();
    out
}

const PLAIN: TerminalOptions = TerminalOptions { width: 80, ascii: false, styled: false, elide: 3 };

#[test]
fn the_race_at_80_100_120_and_160_columns() {
    for width in [80, 100, 120, 160] {
        let out = terminal(&sample::s14(), TerminalOptions { width, ..PLAIN });
        golden(&format!("s14-{width}.txt"), &out);
    }
    golden("s14-ascii-80.txt", &terminal(&sample::s14(), TerminalOptions { ascii: true, ..PLAIN }));
    golden("s14-100.ansi", &terminal(&sample::s14(), TerminalOptions { width: 100, styled: true, ..PLAIN }));
}

#[test]
fn a_long_run_leaves_out_what_touches_nothing() {
    let out = terminal(&sample::long(), PLAIN);
    assert!(out.contains("… 17 steps that do not touch the watched pages"), "{out}");
    assert!(!out.contains("round 7"), "{out}");
    let all = terminal(&sample::long(), TerminalOptions { elide: 0, ..PLAIN });
    assert!(all.contains("round 13") && !all.contains('…'), "{all}");
    let few = terminal(&sample::s14(), TerminalOptions { elide: 4, ..PLAIN });
    assert!(few.contains("room of A is waiting"), "a run shorter than asked stays: {few}");
}

#[test]
fn no_line_is_wider_than_the_terminal_but_the_command() {
    use unicode_width::UnicodeWidthStr as _;
    for width in [60, 80, 100, 133, 160] {
        for timeline in [sample::s14(), sample::long(), sample::hostile()] {
            for line in terminal(&timeline, TerminalOptions { width, ..PLAIN }).lines() {
                assert!(line.width() <= width || line.starts_with("reproduce"), "{width}: {line}");
                assert!(!line.contains('\u{1b}'));
            }
        }
    }
}

#[test]
fn the_race_as_a_mermaid_diagram() {
    let mut out = String::new();
    render_mermaid(&sample::s14(), 3, &mut out).unwrap();
    golden("s14.mmd", &out);
    out.clear();
    render_mermaid(&sample::hostile(), 3, &mut out).unwrap();
    for line in out.lines().skip(1) {
        let known = ["participant ", "Note over ", "rect rgba(", "end", "C-", "P-", "F-", "D-"];
        assert!(known.iter().any(|k| line.trim_start().starts_with(k)), "a forged statement: {line}");
        assert!(!line.contains("<script"), "{line}");
    }
}
