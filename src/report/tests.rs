//! Golden files: what people look at, looked at. `PAGEFENCE_UPDATE_GOLDEN=1 cargo test report` rewrites them.

use super::{
    Cell, Chart, ChartLine, HeatMap, Square, Summary, Table, TerminalOptions, Tone, render_html, render_mermaid,
    render_terminal, sample,
};
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
    golden("s20-100.txt", &terminal(&sample::source_reuse(), TerminalOptions { width: 100, ..PLAIN }));
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
fn the_head_is_about_the_subject_and_not_the_worst() {
    let mut told = sample::s14();
    told.subject = Some(0);
    let out = terminal(&told, TerminalOptions { width: 120, ..PLAIN });
    assert!(
        out.contains("\n! free-in-flight (hazard): pages 1-2 of A are freed while its write is in flight"),
        "{out}"
    );
    let page = render_html(&[told], &Summary::default());
    assert!(page.contains("<span class=\"badge\">free-in-flight · hazard</span>"), "{page}");
}

#[test]
fn no_line_is_wider_than_the_terminal_but_the_command() {
    use unicode_width::UnicodeWidthStr as _;
    for width in [60, 80, 100, 133, 160] {
        for timeline in [sample::s14(), sample::long(), sample::source_reuse(), sample::hostile()] {
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

fn summary() -> Summary {
    let mut table = Table::new("cases by profile", ["case", "0.5.10", "0.5.11", "main", "steps"]);
    let (bad, good) = (|| Cell::new("stale-read", Tone::Bad), || Cell::new("clean", Tone::Good));
    table.push([Cell::from("S14"), bad(), bad(), good(), "20".into()]);
    table.push([Cell::from("S01"), bad(), good(), Cell::new("not run", Tone::Dim), "31".into()]);
    Summary {
        title: "pagefence: 2 findings".into(),
        rows: vec![
            ("version".into(), "0.1.0".into()),
            ("stopped".into(), "closed: every reachable state was seen".into()),
        ],
        tables: vec![table],
        heat_maps: vec![heat_map()],
        charts: vec![Chart {
            caption: HOSTILE.into(),
            x: HOSTILE.into(),
            y: "executions".into(),
            lines: vec![ChartLine { name: HOSTILE.into(), points: vec![(0.0, 0.0), (9.0, 4.0)] }],
        }],
    }
}

/// What must never get into a page as it is.
const HOSTILE: &str = "<script src=\"https://example.org\">";

fn heat_map() -> HeatMap {
    let square = |text: &str, heat| Square { text: text.into(), title: HOSTILE.into(), heat, tone: Tone::Bad };
    let row = (HOSTILE.into(), vec![square("12 stale-read", 0.5), square(".", 0.0)]);
    HeatMap { caption: "atlas".into(), head: vec![HOSTILE.into(), "d held".into()], rows: vec![row] }
}

/// Panics unless every tag is closed in order, and returns the tags.
fn balanced(page: &str) -> Vec<&str> {
    const VOID: [&str; 2] = ["meta", "!DOCTYPE"];
    let (mut open, mut tags) = (Vec::new(), Vec::new());
    let style = page.find("<style>").unwrap() + 7..page.find("</style>").unwrap();
    for (at, _) in page.match_indices('<').filter(|(at, _)| !style.contains(at)) {
        let tag = &page[at + 1..at + page[at..].find('>').expect("a tag that never ends")];
        let name = tag.split_whitespace().next().unwrap();
        match name.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name), "closed out of order near {at}"),
            None if VOID.contains(&name) || tag.ends_with('/') => {}
            None => open.push(name),
        }
        tags.push(tag);
    }
    assert!(open.is_empty(), "left open: {open:?}");
    tags
}

#[test]
fn the_page_is_well_formed_and_loads_nothing() {
    for timelines in [vec![], vec![sample::s14()], vec![sample::s14(), sample::long(), sample::hostile()]] {
        let page = render_html(&timelines, &summary());
        for tag in balanced(&page) {
            let name = tag.split_whitespace().next().unwrap();
            assert!(!["script", "link", "img", "iframe", "object", "image", "use"].contains(&name), "{tag}");
            // The hostile string may stand in an attribute as text, never as something to load.
            for load in [" src=", " href=\"http", "url(http"] {
                let loads = [" aria-label=", " title="].iter().fold(tag, |tag, text| tag.split(text).next().unwrap());
                assert!(!loads.contains(load), "{tag}");
            }
        }
        assert!(!page.contains("@import") && !page.contains("<script"), "a script got through");
    }
    let page = render_html(&[sample::s14()], &Summary { heat_maps: vec![], charts: vec![], ..summary() });
    assert!(!page.contains("http://") && !page.contains("https://"));
    for target in page.match_indices("href=\"#").map(|(at, _)| page[at + 7..].split('"').next().unwrap()) {
        assert!(page.contains(&format!("id=\"{target}\"")), "#{target} leads nowhere");
    }
    if std::env::var_os("PAGEFENCE_UPDATE_GOLDEN").is_some() {
        let out = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/report-sample.html");
        let timelines = [sample::s14(), sample::source_reuse(), sample::long(), sample::hostile()];
        super::write_whole(&out, render_html(&timelines, &summary())).unwrap();
    }
}

#[test]
fn a_timeline_survives_json_and_an_empty_one_draws() {
    let t = sample::s14();
    let json = serde_json::to_string(&t).unwrap();
    assert_eq!(serde_json::from_str::<super::Timeline>(&json).unwrap(), t);
    let empty = super::Timeline::new("nothing");
    assert!(terminal(&empty, PLAIN).contains("no violation"));
    assert!(render_html(&[empty], &Summary::default()).contains("no violation"));
}
