//! Findings as one HTML file that needs nothing else: no scripts, no fonts, no images to load.

mod picture;
mod steps;

use super::chart::Chart;
use super::heat::{HeatMap, Square};
use super::strip;
use super::table::{Cell, Table, Tone};
use super::timeline::{MarkedViolation, Role, Timeline};
use crate::lifetime::{Life, Severity};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde::{Deserialize, Serialize};

/// What stands above the findings: what was run, and what came out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The title of the page.
    pub title: String,
    /// Facts, as (name, value): version, seed, how long, why it stopped.
    pub rows: Vec<(String, String)>,
    /// Tables, such as cases by profiles.
    pub tables: Vec<Table>,
    /// Heat maps.
    #[serde(default)]
    pub heat_maps: Vec<HeatMap>,
    /// What grew while it ran.
    #[serde(default)]
    pub charts: Vec<Chart>,
}

/// Draws a page: the summary, a table of contents when there are several timelines, and each timeline.
#[must_use]
pub fn render_html(timelines: &[Timeline], summary: &Summary) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                // Nothing may be loaded, whatever a string in here says.
                meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'";
                meta name="generator" content="pagefence";
                title { (summary.title) }
                style { (PreEscaped(include_str!("html/style.css"))) }
            }
            body {
                header {
                    h1 { (summary.title) }
                    p.lead { (lead(timelines)) }
                    @if !summary.rows.is_empty() {
                        dl { @for (name, value) in &summary.rows { dt { (name) } dd { (value) } } }
                    }
                    @for table in &summary.tables { (data_table(table)) }
                    @for map in &summary.heat_maps { (heat_map(map)) }
                    @if !summary.charts.is_empty() { div.charts { @for chart in &summary.charts { (line_chart(chart)) } } }
                    @if timelines.len() > 1 { (contents(timelines)) }
                }
                main { @for (i, timeline) in timelines.iter().enumerate() { (article(i + 1, timeline)) } }
            }
        }
    };
    // Escaping leaves control characters alone, and a page may hold none.
    page.into_string().chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect()
}

fn lead(timelines: &[Timeline]) -> String {
    let broken = timelines.iter().filter(|t| !t.violations.is_empty()).count();
    match (timelines.len(), broken) {
        (0, _) => "There is nothing to show step by step.".to_owned(),
        (1, 0) => "One run, and nothing broke in it.".to_owned(),
        (1, _) => "One run in which something broke.".to_owned(),
        (all, 0) => format!("{all} runs, and nothing broke in them."),
        (all, broken) => format!("{all} runs; something broke in {broken}."),
    }
}

fn contents(timelines: &[Timeline]) -> Markup {
    html! {
        nav {
            h3 { "Findings" }
            ol {
                @for (i, timeline) in timelines.iter().enumerate() {
                    li {
                        a href=(format!("#t{}", i + 1)) { (timeline.title) }
                        @if let Some(subject) = timeline.subject() {
                            " " span class=(if subject.severity() > Severity::Race { "bad" } else { "warn" }) { (subject.kind) }
                        } @else {
                            " " span.good { "no violation" }
                        }
                    }
                }
            }
        }
    }
}

fn data_table(table: &Table) -> Markup {
    let empty = Cell::default();
    html! {
        div.wide {
            table.data {
                @if !table.caption.is_empty() { caption { (table.caption) } }
                @if !table.head.is_empty() {
                    thead { tr { @for (i, head) in table.head.iter().enumerate() { th.num[table.numeric(i)] { (head) } } } }
                }
                tbody {
                    @for row in &table.rows {
                        tr {
                            @for i in 0..table.columns() {
                                @let cell = row.get(i).unwrap_or(&empty);
                                td.num[table.numeric(i)] { span class=[tone(cell.tone)] { (cell.text) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn heat_map(map: &HeatMap) -> Markup {
    html! {
        div.wide {
            table.heat {
                caption { (map.caption) }
                thead { tr { th {} @for head in &map.head { th { span { (head) } } } } }
                tbody {
                    @for (name, squares) in &map.rows {
                        tr { th { (name) } @for square in squares { (heat_square(square)) } }
                    }
                }
            }
        }
    }
}

fn heat_square(square: &Square) -> Markup {
    let heat = format!("--heat:{:.0}%", square.heat * 100.0);
    html! { td class=[tone(square.tone)] style=(heat) title=(square.title) { (square.text) } }
}

fn line_chart(chart: &Chart) -> Markup {
    html! {
        @if let Some(svg) = chart.svg() {
            figure.chart {
                figcaption { b { (chart.caption) } }
                // Made by the chart itself, which escapes what it writes.
                (PreEscaped(svg))
                figcaption {
                    @for (at, line) in chart.lines.iter().enumerate() {
                        span { i style=(format!("background:{}", Chart::colour(at))) {} (line.name) }
                    }
                }
            }
        }
    }
}

const fn tone(tone: Tone) -> Option<&'static str> {
    match tone {
        Tone::Plain => None,
        Tone::Good => Some("good"),
        Tone::Warn => Some("warn"),
        Tone::Bad => Some("bad"),
        Tone::Dim => Some("dim"),
    }
}

fn article(id: usize, timeline: &Timeline) -> Markup {
    html! {
        article id=(format!("t{id}")) {
            h2 { (timeline.title) }
            @if !timeline.subtitle.is_empty() {
                ul.chips { @for fact in &timeline.subtitle { li { (fact) } } }
            }
            @match timeline.subject() {
                Some(subject) => (verdict(id, timeline, subject)),
                None => div.verdict.clean { span.badge { "no violation" } p { "Nothing broke in this run." } },
            }
            @if !timeline.steps.is_empty() {
                h3 { "The race" }
                (picture::picture(id, timeline))
                h3 { "Step by step" }
                (steps::steps(id, timeline))
            }
            @if let Some(command) = &timeline.reproduce {
                h3 { "Reproduce" }
                pre { code { (command) } }
            }
            @if let Some(script) = &timeline.script {
                details { summary { "The script" } pre { code { (script) } } }
            }
        }
    }
}

fn verdict(id: usize, timeline: &Timeline, subject: &MarkedViolation) -> Markup {
    let severity = subject.severity();
    let moments = [
        (Role::Started, subject.started, "It starts"),
        (Role::Released, subject.released, "The slot is taken away"),
        (Role::Broke, Some(subject.broke), "It breaks"),
    ];
    html! {
        div.verdict.danger[severity <= Severity::Race] {
            span.badge { (subject.kind) " · " (severity) }
            p { (subject.headline) }
        }
        @if subject.started.is_some() || subject.released.is_some() {
            ol.story {
                @for (role, number, what) in moments {
                    @if let Some(step) = number.and_then(|n| timeline.steps.iter().find(|s| s.number == n)) {
                        li class=(class(role, severity)) {
                            b { (mark(role, severity)) " " (what) " at " a href=(link(id, step.number)) { "step " (step.number) } }
                            (step.text)
                            " " span { (step.lane.name()) " " (step.actor) @if let Some(p) = &step.protocol { " · " (p) } }
                        }
                    }
                }
            }
        }
        @if timeline.violations.len() > 1 {
            ul.also {
                @for v in timeline.violations.iter().filter(|v| *v != subject) {
                    li {
                        b.bad[v.severity() > Severity::Race] { (mark(Role::Broke, v.severity())) " " (v.kind) }
                        " at " a href=(link(id, v.broke)) { "step " (v.broke) } ": " (v.headline)
                    }
                }
            }
        }
    }
}

fn link(id: usize, number: usize) -> String {
    format!("#t{id}-s{number}")
}

/// The CSS class of a role.
fn class(role: Role, severity: Severity) -> &'static str {
    match role {
        Role::Started => "started",
        Role::Released => "released",
        Role::Broke if severity <= Severity::Race => "danger",
        Role::Broke => "broke",
    }
}

fn mark(role: Role, severity: Severity) -> &'static str {
    strip::UNICODE.role(role, severity)
}

/// Which of the six colours a life has.
const fn hue(life: Life) -> usize {
    life.request as usize % 6
}
