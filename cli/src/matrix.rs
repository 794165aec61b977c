//! The table case x profile.

use crate::console::Console;
use crate::interrupt;
use crate::progress::Spinner;
use crate::races;
use anyhow::Result;
use pagefence::cases::{Case, CheckOptions, Expected, Row, Suite, Verdict};
use pagefence::cell::Profile;
use pagefence::report::{Cell, Table, Tone};

/// States and walks a search of a case may take: what every fault is found within, and most scopes close within.
const STATES: u64 = 300_000;
/// On `reference`: what every scope closes within.
const REFERENCE_STATES: u64 = 1_000_000;
const WALKS: u64 = 4096;

/// Runs the cases that `chosen` picks, first in their scopes and then on threads. Fewer rows than cases ask for mean that
/// Ctrl-C was pressed.
pub fn run(suite: &Suite, chosen: impl Fn(&Case) -> bool, seed: u64, jobs: usize) -> Result<Vec<Row>> {
    let mut rows = explored(suite, &chosen, seed, jobs)?;
    if !interrupt::pressed() {
        rows.extend(races::rows(suite, chosen, seed, |list| races::race(list, jobs))?);
    }
    Ok(rows)
}

/// How cases are checked, everywhere alike.
pub fn options(seed: u64, jobs: usize) -> CheckOptions<'static> {
    let stop = Some(interrupt::flag());
    CheckOptions { seed, jobs, states: STATES, reference_states: REFERENCE_STATES, walks: WALKS, stop }
}

fn explored(suite: &Suite, chosen: impl Fn(&Case) -> bool, seed: u64, jobs: usize) -> Result<Vec<Row>> {
    let spinner = Spinner::new("checking cases");
    let (mut done, all) = (0, suite.rows());
    let each = |row: &Row| {
        done += 1;
        spinner.at(format!("case {done} of {all}: {} on {}", row.case, row.profile));
    };
    Ok(suite.check(chosen, &options(seed, jobs), each)?)
}

/// Whether every row is as its case declares.
pub fn as_declared(rows: &[Row]) -> bool {
    rows.iter().all(|row| row.verdict == Verdict::AsDeclared)
}

/// Prints the table, what its cells mean, and in full what is not as declared.
pub fn print(rows: &[Row], console: &mut Console) -> Result<()> {
    if rows.is_empty() {
        return Ok(console.line("cases: none was run")?);
    }
    for table in tables(rows) {
        console.table(&table)?;
        console.line(if table.caption.is_empty() { STEPS } else { RACES })?;
        console.line("")?;
    }
    let wrong: Vec<&Row> = rows.iter().filter(|row| row.verdict != Verdict::AsDeclared).collect();
    for row in &wrong {
        let Row { case, profile, scope, .. } = row;
        let what = if row.verdict == Verdict::Missing { "MISSING" } else { "UNEXPECTED" };
        console.line(format!("{what}: {case} on {profile} in {scope}"))?;
    }
    console.line(format!("cases: {}", verdict(rows)))?;
    Ok(())
}

/// What the cells of the first table mean.
const STEPS: &str = "\
found e: by exhaustive search, s: by random walks. held: not found, and no state is left to look at.
stopped: the case's own script, replayed with its remedy on, no longer shows it. not found*: the search was
cut short, so that is no proof. variants: on profiles with switches changed, `+ switch`: with its remedy.";
/// What those of the second mean.
const RACES: &str = "\
found l: by loom, s: by shuttle. held: not found, and loom has no schedule left to try (three preemptions).
not found*: not in as many schedules as were tried.";

/// How many cases ran, and whether all are as declared.
pub fn verdict(rows: &[Row]) -> String {
    let wrong = rows.iter().filter(|row| row.verdict != Verdict::AsDeclared).count();
    let verdict = if wrong == 0 { "all as declared".to_owned() } else { format!("{wrong} NOT AS DECLARED") };
    format!("{}, {} runs; {verdict}", names(rows.iter()).len(), rows.len())
}

/// The tables of a page.
pub fn tables(rows: &[Row]) -> Vec<Table> {
    let (races, steps): (Vec<&Row>, Vec<&Row>) = rows.iter().partition(|row| row.is_race());
    let tables = [table("", &steps), table("between two accesses", &races)];
    tables.into_iter().filter(|table| !table.rows.is_empty()).collect()
}

/// One line a case, one column a preset, and one for all presets with switches changed.
fn table(title: &str, rows: &[&Row]) -> Table {
    let presets: Vec<String> = Profile::presets().map(|(profile, _)| profile.name).collect();
    let shown = presets.iter().map(|name| name.trim_start_matches("sglang-"));
    let mut table = Table::new(title, std::iter::once("case").chain(shown).chain(["variants"]));
    for name in names(rows.iter().copied()) {
        let case: Vec<&Row> = rows.iter().copied().filter(|row| row.case == name).collect();
        let cell =
            |preset: &String| cell(&case.iter().copied().filter(|row| row.profile == *preset).collect::<Vec<_>>());
        let variants = case.iter().copied().filter(|row| is_variant(&row.profile)).collect::<Vec<_>>();
        table
            .push(std::iter::once(Cell::from(name)).chain(presets.iter().map(cell)).chain([self::variants(&variants)]));
    }
    table
}

/// The cases, in the order of the rows.
fn names<'a>(rows: impl Iterator<Item = &'a Row>) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for row in rows {
        if !names.contains(&row.case.as_str()) {
            names.push(&row.case);
        }
    }
    names
}

/// `sglang-0.5.11 door=on` is a preset and settings.
fn is_variant(profile: &str) -> bool {
    profile.contains(' ')
}

/// Whether it is not there, and need not be.
fn absent(row: &Row) -> bool {
    row.verdict == Verdict::AsDeclared && row.expected != Expected::Found
}

/// How a case came out on profiles that have no column: `2 found, 1 held`.
fn variants(rows: &[&Row]) -> Cell {
    let count = |wanted: fn(&Row) -> bool| rows.iter().filter(|row| wanted(row)).count();
    let counts = [
        (count(|row| row.verdict == Verdict::Missing), "MISSING"),
        (count(|row| row.verdict == Verdict::Unexpected), "UNEXPECTED"),
        (count(|row| row.verdict == Verdict::AsDeclared && row.expected == Expected::Found), "found"),
        (count(|row| absent(row) && row.closed), "held"),
        (count(|row| absent(row) && row.replayed), "stopped"),
        (count(|row| absent(row) && !row.closed && !row.replayed), "not found*"),
    ];
    let text: Vec<String> =
        counts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
    let wrong = counts[0].0 + counts[1].0 > 0;
    Cell::new(text.join(", "), if wrong { Tone::Bad } else { Tone::Plain })
}

/// How a case came out on a profile, in all of its scopes.
fn cell(rows: &[&Row]) -> Cell {
    let Some(first) = rows.first() else { return Cell::default() };
    let seconds: f64 = rows.iter().map(|row| row.seconds).sum();
    let wrong = |verdict| rows.iter().filter(|row| row.verdict == verdict).count();
    let by: String =
        first.by.iter().filter(|name| rows.iter().all(|row| row.by.contains(name))).map(|name| &name[..1]).collect();
    let times = if rows.len() > 1 { format!(" x{}", rows.len()) } else { String::new() };
    let (text, tone) = match (wrong(Verdict::Missing), wrong(Verdict::Unexpected), first.expected) {
        (0, 0, Expected::Found) => (format!("found{times} {by}"), if by.len() > 1 { Tone::Good } else { Tone::Warn }),
        (0, 0, _) if rows.iter().all(|row| row.closed) => (format!("held{times}"), Tone::Good),
        (0, 0, _) => (format!("not found*{times}"), Tone::Warn),
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
    use pagefence::explore::Explorer;

    fn row(profile: &str, expected: Expected, verdict: Verdict, by: &[Explorer]) -> Row {
        Row {
            case: "S14".to_owned(),
            profile: profile.to_owned(),
            scope: "abort".to_owned(),
            expected,
            verdict,
            by: by.iter().map(|explorer| explorer.name().to_owned()).collect(),
            seconds: 0.25,
            closed: true,
            replayed: false,
            finding: None,
        }
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
            row("sglang-0.5.11 door=on", Expected::Held, Verdict::AsDeclared, &[]),
            Row { closed: false, ..row("sglang-0.5.23", Expected::Held, Verdict::AsDeclared, &[]) },
            Row { closed: false, ..row("reference door=off", Expected::Held, Verdict::AsDeclared, &[]) },
            Row {
                closed: false,
                replayed: true,
                ..row("sglang-0.5.11 + door", Expected::Stopped, Verdict::AsDeclared, &[])
            },
        ];
        let table = &tables(&rows)[0];
        let text: Vec<Vec<&str>> =
            table.rows.iter().map(|row| row.iter().map(|cell| cell.text.as_str()).collect()).collect();
        let row = ["S14", "found x2 e 0.5s", "MISSING 0.2s", "UNEXPECTED s 0.2s", "", "not found* 0.2s"];
        let row: Vec<&str> = row.into_iter().chain(["held 0.2s", "1 held, 1 stopped, 1 not found*"]).collect();
        assert_eq!(text, [row]);
        assert!(!as_declared(&rows) && as_declared(&rows[..2]));
    }
}
