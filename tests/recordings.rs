//! The recorded traces of real SGLang releases have known verdicts (`tests/traces/README.md`): the audit must come to
//! exactly these.

use pagefence::lifetime::{Arena, Event, Kind, Label, Life, Node, OpId, Place, Span, Verdict};
use pagefence::trace::schema::{Context, NodeDeclaration};
use pagefence::trace::{Answers, AuditOptions, AuditReport, Finding, Format, Held, Reader, Sink, audit};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

const DECODE_PAGES: Place = Place { node: Node(1), arena: Arena::KvPage };

fn open(name: &str) -> BufReader<File> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/traces").join(name);
    BufReader::new(File::open(path).unwrap())
}

fn audited(name: &str) -> AuditReport {
    let report = audit(name, open(name), &AuditOptions::default()).unwrap();
    assert_eq!(report.format, Format::SglangStudy);
    assert_eq!(report.skipped, 0);
    assert_eq!(report.requests, 2);
    report
}

/// What a finding says, in short: kind, broken line, request, other request, first page, pages, cells.
type Short<'a> = (Kind, u32, &'a str, Option<&'a str>, Vec<Span>, u32);

fn short(finding: &Finding) -> Short<'_> {
    let violation = &finding.violation;
    assert_eq!(violation.place, Some(DECODE_PAGES));
    let request = finding.request.as_deref().unwrap();
    let pages = violation.slots.to_vec();
    (violation.kind, violation.broke.0, request, finding.other.as_deref(), pages, violation.cells)
}

fn of_kind(report: &AuditReport, kind: Kind) -> Vec<Short<'_>> {
    report.findings.iter().map(short).filter(|short| short.0 == kind).collect()
}

/// Pages `from ..= to`.
fn pages(from: u32, to: u32) -> Vec<Span> {
    vec![Span::new(from, to - from + 1)]
}

fn held(report: &AuditReport) -> Vec<(&str, &str, Vec<Span>)> {
    fn short(held: &Held) -> (&str, &str, Vec<Span>) {
        (held.node.as_str(), held.request.as_deref().unwrap(), held.slots.to_vec())
    }
    assert!(report.held.iter().all(|held| held.place.arena == Arena::KvPage));
    report.held.iter().map(short).collect()
}

#[test]
fn incident_0_5_11_reads_199_tokens_that_nobody_wrote() {
    let report = audited("incident-0.5.11.jsonl");
    let stale = |line| (Kind::StaleRead, line, "long", None, pages(17, 66), 199);
    // At the commit, and in each of the three steps that follow; `ok` is clean.
    let found: Vec<_> = report.findings.iter().map(short).collect();
    assert_eq!(found, [stale(73), stale(75), stale(81), stale(85)]);
    // Since the reservation of the 50 pages.
    assert_eq!(report.findings[0].violation.started, Some(Label(53)));
    // The client is told of a success, but neither the refusal nor the usage is in the recording: no wrong answer is
    // proved by it.
    assert_eq!(report.answers, Answers { success: 2, ..Answers::default() });
    assert_eq!(report.by_kind, BTreeMap::from([(Kind::StaleRead, 4)]));
    // Prefill's prefix cache keeps what `ok` computed.
    assert_eq!(held(&report), [("prefill", "ok", pages(1, 15))]);
    assert_eq!(
        report.to_string(),
        "incident-0.5.11.jsonl: recording of the SGLang study, 90 lines, 47 events, 2 requests\n  \
         answered: 2 success, 0 rejected, 0 aborted, 0 failed\n  \
         line 73: stale-read: long on decode pages 17-66, 199 cells, started in line 53; 3 times more, up to line 85\n  \
         held, not leaked: ok on prefill pages 1-15 (15)\n  4 violations: 4 stale-read\n"
    );
}

#[test]
fn incident_0_5_22_refuses_and_holds() {
    let report = audited("incident-0.5.22.jsonl");
    assert!(report.is_clean());
    assert_eq!(report.violations, 0);
    assert_eq!(report.answers, Answers { success: 1, rejected: 1, ..Answers::default() });
    assert_eq!(held(&report), [("prefill", "ok", pages(1, 15)), ("decode", "long", pages(17, 66))]);
    assert_eq!(report.held_slots, 65);
}

/// Where the two recordings with a reuse differ: their lines.
struct Lines {
    posted: u32,
    freed: u32,
    reused: [u32; 4],
    torn: [u32; 13],
    landed: u32,
    first_stale: u32,
    last_stale: u32,
}

fn overwritten(name: &str, lines: &Lines) {
    let report = audited(name);
    assert_eq!(of_kind(&report, Kind::FreeInFlight), [(Kind::FreeInFlight, lines.freed, "A", None, pages(7, 26), 0)]);
    let reuse = |at: usize| {
        let page = 7 + at as u32;
        (Kind::ReuseInFlight, lines.reused[at], "A", Some("C"), pages(page, page), 0)
    };
    assert_eq!(of_kind(&report, Kind::ReuseInFlight), [reuse(0), reuse(1), reuse(2), reuse(3)]);
    // All 20 pages are hit: four of them are C's, sixteen are free.
    assert_eq!(
        of_kind(&report, Kind::WriteAfterFree),
        [
            (Kind::WriteAfterFree, lines.landed, "A", Some("C"), pages(7, 10), 16),
            (Kind::WriteAfterFree, lines.landed, "A", None, pages(11, 26), 64),
        ]
    );
    for finding in report.findings.iter().filter(|finding| finding.violation.life == Life::first(1)) {
        let violation = &finding.violation;
        assert_eq!(violation.op, Some(OpId(6)));
        assert_eq!(violation.started, Some(Label(lines.posted)));
        assert_eq!(violation.released, Some(Label(lines.freed)));
    }
    // Before the write lands, C reads its own tokens from under it: one more at each step.
    let torn = of_kind(&report, Kind::TornRead);
    assert_eq!(torn.iter().map(|short| short.1).collect::<Vec<_>>(), lines.torn);
    assert_eq!(torn.iter().map(|short| short.5).collect::<Vec<_>>(), (1..=13).collect::<Vec<_>>());
    assert!(torn.iter().all(|short| (short.2, short.3) == ("C", Some("A"))));
    // After it, the fourteen tokens that C had written there are A's, at each of the 35 steps that are left.
    let stale = of_kind(&report, Kind::StaleRead);
    assert_eq!(stale.len(), 35);
    assert_eq!(stale[0], (Kind::StaleRead, lines.first_stale, "C", Some("A"), pages(7, 10), 14));
    assert_eq!(stale[34], (Kind::StaleRead, lines.last_stale, "C", Some("A"), pages(7, 10), 14));
    assert!(stale.iter().all(|short| (short.2, short.3, short.5) == ("C", Some("A"), 14)));
    assert_eq!(report.violations, 1 + 4 + 2 + 13 + 35);
    assert_eq!(report.findings.len(), 55);
    assert_eq!(report.answers, Answers { success: 1, failed: 1, ..Answers::default() });
    assert_eq!(held(&report), [("prefill", "C", pages(1, 5)), ("prefill", "A", pages(6, 25))]);
}

#[test]
fn late_write_0_5_11_frees_at_the_abort() {
    let lines = Lines {
        posted: 50,
        freed: 59,
        reused: [345, 365, 385, 405],
        torn: [352, 356, 362, 366, 372, 376, 382, 386, 392, 396, 402, 406, 412],
        landed: 417,
        first_stale: 422,
        last_stale: 596,
    };
    overwritten("late-write-0.5.11.jsonl", &lines);
}

#[test]
fn late_write_0_5_23_with_a_timeout_of_1_s_frees_at_the_timeout() {
    let lines = Lines {
        posted: 45,
        freed: 58,
        reused: [284, 300, 316, 332],
        torn: [289, 293, 297, 301, 305, 309, 313, 317, 321, 325, 329, 333, 337],
        landed: 342,
        first_stale: 347,
        last_stale: 484,
    };
    overwritten("late-write-0.5.23-timeout1s.jsonl", &lines);
}

#[test]
fn late_write_0_5_23_holds_by_default() {
    let report = audited("late-write-0.5.23-default.jsonl");
    assert!(report.is_clean());
    assert_eq!(report.answers, Answers { failed: 2, ..Answers::default() });
    assert_eq!(
        held(&report),
        [("prefill", "C", pages(1, 5)), ("prefill", "A", pages(6, 25)), ("decode", "A", pages(7, 26))]
    );
}

/// Keeps what it is told.
#[derive(Default)]
struct Told {
    declared: Vec<NodeDeclaration>,
    events: Vec<(u64, Option<String>, Event)>,
}

impl Sink for Told {
    fn declare(&mut self, node: &NodeDeclaration) {
        self.declared.push(node.clone());
    }

    fn event(&mut self, line: u64, context: &Context<'_>, event: &Event) {
        self.events.push((line, context.request.map(str::to_owned), event.clone()));
    }
}

fn told(name: &str) -> Told {
    let mut told = Told::default();
    Reader::open(name, open(name), false).unwrap().run(&mut told).unwrap();
    told
}

#[test]
fn the_importer_knows_pools_verdicts_and_double_frees() {
    let trace = told("incident-0.5.11.jsonl");
    let pools: Vec<_> = trace.declared.iter().map(|node| (node.name.as_str(), node.arenas[0].slots)).collect();
    // Page 0 is never given away: 1024 tokens in pages of 4, and one more.
    assert_eq!(pools, [("prefill", 257), ("decode", 257)]);
    assert!(trace.declared.iter().all(|node| node.arenas[0].width == 4));
    // 0.5.11 records the free at the end of a batch twice; it is told once.
    let freed: Vec<_> = trace
        .events
        .iter()
        .filter(|(_, _, event)| matches!(event, Event::Free { slots, .. } if slots.place == DECODE_PAGES))
        .map(|(line, request, _)| (*line, request.as_deref().unwrap()))
        .collect();
    assert_eq!(freed, [(41, "ok"), (86, "long")]);

    let refused = told("incident-0.5.22.jsonl");
    let verdicts: Vec<_> = refused
        .events
        .iter()
        .filter_map(|(line, request, event)| match event {
            Event::Decide { verdict, .. } => Some((*line, request.as_deref()?, "decides", *verdict)),
            Event::Finish { told, .. } => Some((*line, request.as_deref()?, "answers", told.verdict)),
            _ => None,
        })
        .collect();
    let refusal = verdicts[1].0;
    assert_eq!(
        verdicts,
        [
            (verdicts[0].0, "ok", "answers", Verdict::Success),
            (refusal, "long", "decides", Verdict::Rejected),
            (refusal, "long", "answers", Verdict::Rejected),
        ]
    );
}

const ALL: [&str; 5] = [
    "incident-0.5.11.jsonl",
    "incident-0.5.22.jsonl",
    "late-write-0.5.11.jsonl",
    "late-write-0.5.23-default.jsonl",
    "late-write-0.5.23-timeout1s.jsonl",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Lines lost, doubled, out of order and altered: an error or a verdict, never a panic.
    #[test]
    fn damaged_recordings_never_panic(
        which in 0..ALL.len(),
        edits in proptest::collection::vec((0..4_u8, any::<[prop::sample::Index; 2]>(), any::<u8>()), 1..12),
    ) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/traces").join(ALL[which]);
        let text = std::fs::read(path).unwrap();
        let mut lines: Vec<Vec<u8>> = text.split(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
        for (edit, [one, other], byte) in edits {
            let at = one.index(lines.len());
            match edit {
                0 => drop(lines.remove(at)),
                1 => lines.insert(at, lines[at].clone()),
                2 => {
                    let other = other.index(lines.len());
                    lines.swap(at, other);
                }
                _ if lines[at].is_empty() => {}
                _ => {
                    let digits: Vec<usize> = (0..lines[at].len()).filter(|&i| lines[at][i].is_ascii_digit()).collect();
                    if let Some(&digit) = digits.get(other.index(digits.len().max(1))) {
                        lines[at][digit] = b'0' + byte % 10;
                    }
                }
            }
        }
        let damaged = lines.join(&b'\n');
        let lenient = AuditOptions { lenient: true, ..AuditOptions::default() };
        let _ = audit("damaged", &damaged[..], &AuditOptions::default());
        let _ = audit("damaged", &damaged[..], &lenient);
    }
}
