//! The table case x profile.

use crate::console::Console;
use crate::interrupt;
use crate::progress::Spinner;
use anyhow::Result;
use pagefence::cases::{Case, CheckOptions, Expected, Row, Suite, Verdict};
use pagefence::cell::Profile;
use pagefence::explore::Explorer;
use pagefence::report::{Cell, Table, Tone};

/// States and walks a search of a case may take: what every fault is found within, and most scopes close within.
const STATES: u64 = 300_000;
const WALKS: u64 = 4096;

/// Characters that settings may take in the table.
const SETTINGS: usize = 40;

/// Runs the cases that `chosen` picks. Fewer rows than cases ask for mean that Ctrl-C was pressed.
pub fn run(suite: &Suite, chosen: impl Fn(&Case) -> bool, seed: u64, jobs: usize) -> Result<Vec<Row>> {
    let spinner = Spinner::new("checking cases");
    let stop = Some(interrupt::flag());
    let options = CheckOptions { seed, jobs, states: STATES, walks: WALKS, stop };
    let (mut done, all) = (0, suite.rows());
    let each = |row: &Row| {
        done += 1;
        spinner.at(format!("case {done} of {all}: {} on {}", row.case, row.profile));
    };
    Ok(suite.check(chosen, &options, each)?)
}

/// Whether every row is as its case declares.
pub fn as_declared(rows: &[Row]) -> bool {
    rows.iter().all(|row| row.verdict == Verdict::AsDeclared)
}

/// Prints the table and what its cells mean.
pub fn print(rows: &[Row], console: &mut Console) -> Result<()> {
    if rows.is_empty() {
        return Ok(console.line("cases: none")?);
    }
    console.table(&table(rows))?;
    console
        .line("as declared: found (e: by exhaustive search, s: by random walks); held (no state is left to look at)")?;
    console.line("or not found (the search was cut short); stopped (by what the case names as its remedy)")?;
    let wrong = rows.iter().filter(|row| row.verdict != Verdict::AsDeclared).count();
    let mut cases: Vec<&str> = rows.iter().map(|row| row.case.as_str()).collect();
    cases.dedup();
    let (cases, rows) = (cases.len(), rows.len());
    let verdict = if wrong == 0 { "all as declared".to_owned() } else { format!("{wrong} NOT AS DECLARED") };
    console.line(format!("cases: {cases}, on {rows} profiles in all; {verdict}"))?;
    Ok(())
}

/// One line a case, one column a preset; a case on a changed preset has a line of its own.
fn table(rows: &[Row]) -> Table {
    let presets: Vec<String> = Profile::presets().map(|(profile, _)| profile.name).collect();
    let shown = presets.iter().map(|name| name.trim_start_matches("sglang-"));
    let mut table = Table::new("", std::iter::once("case").chain(shown));
    for name in names(rows) {
        let (case, settings) = name;
        let remedy = rows
            .iter()
            .any(|row| row.expected == Expected::Stopped && (row.case.as_str(), split(&row.profile).1) == name);
        let label = match (settings, remedy) {
            ("", _) => case.to_owned(),
            (_, true) => format!("  {case} with its remedy"),
            (settings, false) => format!("  {case} {}", cut(settings)),
        };
        let cell = |preset: &String| {
            let here = |row: &&Row| row.case == case && split(&row.profile) == (preset.as_str(), settings);
            cell(&rows.iter().filter(here).collect::<Vec<_>>())
        };
        table.push(std::iter::once(Cell::from(label)).chain(presets.iter().map(cell)));
    }
    table
}

/// The lines: case and settings, in the order of the rows, a case before its changed presets.
fn names(rows: &[Row]) -> Vec<(&str, &str)> {
    let mut names: Vec<(&str, &str)> = Vec::new();
    for row in rows {
        let name = (row.case.as_str(), split(&row.profile).1);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// `sglang-0.5.11 door=on` is a preset and settings.
fn split(profile: &str) -> (&str, &str) {
    profile.split_once(' ').unwrap_or((profile, ""))
}

/// Settings in a column that leaves room for the others; `--format json` has them in full.
fn cut(settings: &str) -> String {
    match settings.char_indices().nth(SETTINGS) {
        None => settings.to_owned(),
        Some((at, _)) => format!("{}…", &settings[..at]),
    }
}

/// How a case came out on a profile, in all of its scopes.
fn cell(rows: &[&Row]) -> Cell {
    let Some(first) = rows.first() else { return Cell::default() };
    let seconds: f64 = rows.iter().map(|row| row.seconds).sum();
    let wrong = |verdict| rows.iter().filter(|row| row.verdict == verdict).count();
    let by: String = Explorer::ALL
        .iter()
        .filter(|explorer| rows.iter().all(|row| row.by.contains(explorer)))
        .map(|explorer| &explorer.name()[..1])
        .collect();
    let times = if rows.len() > 1 { format!(" x{}", rows.len()) } else { String::new() };
    let (text, tone) = match (wrong(Verdict::Missing), wrong(Verdict::Unexpected), first.expected) {
        (0, 0, Expected::Found) => (format!("found{times} {by}"), if by.len() > 1 { Tone::Good } else { Tone::Warn }),
        (0, 0, Expected::Stopped) => (format!("stopped{times}"), Tone::Good),
        (0, 0, _) if rows.iter().all(|row| row.closed) => (format!("held{times}"), Tone::Good),
        (0, 0, _) => (format!("not found{times}"), Tone::Warn),
        (missing, 0, _) => (format!("MISSING{}", of(missing, rows.len())), Tone::Bad),
        (_, unexpected, _) => (format!("UNEXPECTED{} {by}", of(unexpected, rows.len())), Tone::Bad),
    };
    Cell::new(format!("{} {seconds:.1}s", text.trim_end()), tone)
}

fn of(some: usize, all: usize) -> String {
    if all > 1 { format!(" {some}/{all}") } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(profile: &str, expected: Expected, verdict: Verdict, by: &[Explorer]) -> Row {
        Row {
            case: "S14".to_owned(),
            profile: profile.to_owned(),
            scope: "abort".to_owned(),
            expected,
            verdict,
            by: by.to_vec(),
            seconds: 0.25,
            closed: true,
            finding: None,
        }
    }

    #[test]
    fn long_settings_are_cut() {
        let settings = "door=off prefill_abort_after_forward=off length_check=off";
        assert_eq!(cut(settings), "door=off prefill_abort_after_forward=off…");
        assert_eq!(cut(&settings[..40]), settings[..40]);
    }

    #[test]
    fn the_table_says_what_each_profile_did() {
        let both = [Explorer::Exhaustive, Explorer::Swarm];
        let rows = [
            row("sglang-0.5.11", Expected::Found, Verdict::AsDeclared, &both),
            row("sglang-0.5.11", Expected::Found, Verdict::AsDeclared, &both[..1]),
            row("sglang-0.5.20", Expected::Found, Verdict::Missing, &[]),
            row("sglang-0.5.21", Expected::Held, Verdict::Unexpected, &both[1..]),
            row("reference", Expected::Held, Verdict::AsDeclared, &[]),
            row("sglang-0.5.11 door=on", Expected::Stopped, Verdict::AsDeclared, &[]),
        ];
        let table = table(&rows);
        let text: Vec<Vec<&str>> =
            table.rows.iter().map(|row| row.iter().map(|cell| cell.text.as_str()).collect()).collect();
        let plain = ["S14", "found x2 e 0.5s", "MISSING 0.2s", "UNEXPECTED s 0.2s", "", "", "held 0.2s"];
        let stopped = ["  S14 with its remedy", "stopped 0.2s", "", "", "", "", ""];
        assert_eq!(text, [plain, stopped]);
        assert!(!as_declared(&rows) && as_declared(&rows[..2]));
    }
}
