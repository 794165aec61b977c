//! A night as one page.

use super::comparison::compare;
use super::night::{Night, Tally};
use super::record::{Point, Record};
use crate::atlas;
use crate::matrix;
use crate::view::{self, Known};
use pagefence::cases::{Row, Suite};
use pagefence::explore::Finding;
use pagefence::report::{Cell, Chart, ChartLine, Summary, Table, Timeline, Tone, grouped, render_html};
use pagefence_models::finding::replay;
use std::path::Path;

/// How many timelines are drawn; the table names the others.
const MOST: usize = 40;

/// The page, complete in itself. `root`: where the night is kept, for the commands that it names.
pub fn page(night: &Night, previous: Option<&Night>, root: &Path) -> String {
    let mut tables = summary(night, previous);
    tables.extend(found(night));
    tables.extend(matrix::tables(&night.rows()));
    tables.extend(fuzzed(night));
    let head = Summary {
        title: format!("pagefence nightly: {}", night.verdict()),
        rows: facts(night),
        tables,
        heat_maps: night.atlases().iter().map(|(profile, drawn)| atlas::heat_map(profile, drawn)).collect(),
        charts: charts(night),
    };
    render_html(&timelines(night, root), &head)
}

/// What belongs on a terminal too: what was done, what failed, what has changed.
pub fn summary(night: &Night, previous: Option<&Night>) -> Vec<Table> {
    let changed = previous.into_iter().flat_map(|previous| compare(previous, night));
    std::iter::once(areas(night)).chain(failures(night)).chain(changed).collect()
}

fn facts(night: &Night) -> Vec<(String, String)> {
    let about = &night.about;
    let seconds: f64 = night.records.iter().map(|record| record.seconds).sum();
    let facts = [
        ("pagefence", format!("{}, source {}", about.pagefence, about.source)),
        ("seed", about.seed.to_string()),
        ("shard", about.shard.to_string()),
        ("work", format!("{:.1} hours of one core", seconds / 3600.0)),
        (
            "disclosure",
            "before you publish a finding, see SECURITY.md: it may be a fault in somebody's service".to_owned(),
        ),
    ];
    facts.map(|(name, value)| (name.to_owned(), value)).into()
}

fn areas(night: &Night) -> Table {
    let head = ["", "tasks", "failed", "not done", "nothing left", "looked at", "core seconds"];
    let mut table = Table::new("what was done", head);
    for Tally { area, tasks, failed, left, done, closed, seconds } in night.tallies() {
        let failed = Cell::new(failed.to_string(), if failed > 0 { Tone::Bad } else { Tone::Good });
        table.push([
            Cell::from(area.name()),
            tasks.to_string().into(),
            failed,
            left.to_string().into(),
            closed.to_string().into(),
            grouped(done).into(),
            format!("{seconds:.0}").into(),
        ]);
    }
    table
}

/// A table with rows, or none.
fn unless_empty(table: Table) -> Option<Table> {
    (!table.rows.is_empty()).then_some(table)
}

fn failures(night: &Night) -> Option<Table> {
    let mut table = Table::new("not as declared", ["task", "what"]);
    for record in night.failed() {
        table.push([record.task.to_string().into(), Cell::new(record.says.as_str(), Tone::Bad)]);
        for crash in &record.crashes {
            // The last line is what the target says in words.
            let says = crash.says.lines().last().unwrap_or_default();
            table.push([Cell::from(crash.file.as_str()), says.into()]);
        }
    }
    unless_empty(table)
}

/// What no case declares, with the case that it is like.
fn found(night: &Night) -> Option<Table> {
    let findings: Vec<Finding> = night.findings().into_iter().cloned().collect();
    let known: Vec<Option<Known>> = view::known(&Suite::shipped(), &findings);
    let mut table = view::explained(&findings, &known);
    "new findings".clone_into(&mut table.caption);
    table.head.push("file".to_owned());
    for (row, finding) in table.rows.iter_mut().zip(&findings) {
        row.push(format!("findings/{}", finding.file_name()).into());
    }
    unless_empty(table)
}

fn fuzzed(night: &Night) -> Option<Table> {
    let head = ["target", "executions", "per second", "edges", "features", "inputs", "crashes"];
    let mut table = Table::new("libFuzzer", head);
    for record in night.fuzzed() {
        let Point { seconds, executions, edges, features, corpus } = record.curve.last().copied().unwrap_or_default();
        let crashes = record.crashes.len();
        table.push([
            Cell::from(record.task.place.as_str()),
            grouped(executions).into(),
            format!("{:.0}", executions as f64 / seconds.max(1e-3)).into(),
            grouped(edges).into(),
            grouped(features).into(),
            grouped(corpus).into(),
            Cell::new(crashes.to_string(), if crashes > 0 { Tone::Bad } else { Tone::Good }),
        ]);
    }
    unless_empty(table)
}

fn charts(night: &Night) -> Vec<Chart> {
    let chart = |caption: &str, y: &str, of: fn(&Point) -> u64| {
        let line = |record: &Record| ChartLine {
            name: record.task.place.clone(),
            points: record.curve.iter().map(|point| (point.seconds, of(point) as f64)).collect(),
        };
        let lines: Vec<ChartLine> = night.fuzzed().map(line).collect();
        Chart { caption: caption.to_owned(), x: "seconds".to_owned(), y: y.to_owned(), lines }
    };
    let charts = [
        chart("coverage over time: code and protocol", "features", |point| point.features),
        chart("coverage over time: code alone", "edges", |point| point.edges),
        chart("executions over time", "executions", |point| point.executions),
    ];
    charts.into_iter().filter(|chart| chart.lines.iter().any(|line| !line.points.is_empty())).collect()
}

/// The timelines of what is new, and of what cases say must not be found.
fn timelines(night: &Night, root: &Path) -> Vec<Timeline> {
    let rows = night.rows();
    let unexpected = rows.iter().filter_map(|row: &Row| {
        row.finding.as_deref().filter(|_| row.verdict == pagefence::cases::Verdict::Unexpected)
    });
    let findings = night.findings();
    let all = findings.into_iter().map(|finding| (finding, Some(root.join("findings").join(finding.file_name()))));
    all.chain(unexpected.map(|finding| (finding, None)))
        .take(MOST)
        .filter_map(|(finding, path)| match finding.threads {
            // A finding of another source may have lost its model.
            Some(_) => replay(finding, finding.profile.switches).ok().map(|replayed| replayed.timeline),
            None => Some(finding.story(&finding.profile, path.as_deref())),
        })
        .collect()
}
