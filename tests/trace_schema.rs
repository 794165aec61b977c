//! Our own schema: what is read, what is refused, and that nothing makes the reader panic.

use pagefence::lifetime::{Answer, Arena, Cells, Event, Kind, Label, Life, Node, OpId, Place, Slots, Span, Verdict};
use pagefence::trace::schema::{ArenaDeclaration, Context, Header, NodeDeclaration, Record};
use pagefence::trace::{AuditOptions, AuditReport, MAX_LINE, Problem, Reader, Sink, TraceError, audit};
use proptest::prelude::*;

const PAGES: u32 = 64;
const WIDTH: u32 = 4;
const PREFILL: Place = Place { node: Node(0), arena: Arena::KvPage };
const DECODE: Place = Place { node: Node(1), arena: Arena::KvPage };

fn header() -> String {
    let pages = ArenaDeclaration { arena: Arena::KvPage, slots: PAGES, width: WIDTH, frees_recorded: true };
    let node = |node, name: &str| NodeDeclaration {
        node: Node(node),
        name: name.to_owned(),
        role: String::new(),
        arenas: vec![pages],
    };
    serde_json::to_string(&Header::new(vec![node(0, "prefill"), node(1, "decode")])).unwrap()
}

fn slots(place: Place, from: u32, count: u32) -> Slots {
    Slots { place, runs: [Span::new(from, count)].into_iter().collect() }
}

fn cells(place: Place, from: u32, count: u32) -> Cells {
    Cells { place, runs: [Span::new(from * WIDTH, count * WIDTH)].into_iter().collect() }
}

/// One request from its begin to its finish, `count` pages on both sides.
fn request(number: u32, from: u32, count: u32) -> Vec<Event> {
    let (life, op) = (Life::first(number), OpId(number));
    let tokens = count * WIDTH;
    let told = Answer { verdict: Verdict::Success, prompt_tokens: tokens, tokens_of: Some(life) };
    vec![
        Event::Begin { life },
        Event::Alloc { life, slots: slots(DECODE, from, count) },
        Event::Alloc { life, slots: slots(PREFILL, from, count) },
        Event::Write { life, cells: cells(PREFILL, from, count) },
        Event::Post { op, life, source: Some(cells(PREFILL, from, count)), target: Some(cells(DECODE, from, count)) },
        Event::Land { op, part: Span::new(0, tokens) },
        Event::Settle { op },
        Event::Read { life, cells: cells(DECODE, from, count) },
        Event::Free { life, slots: slots(PREFILL, from, count) },
        Event::Free { life, slots: slots(DECODE, from, count) },
        Event::Finish { life, told, processed: Some(tokens) },
    ]
}

fn written(events: &[Event]) -> String {
    let mut text = header();
    for event in events {
        text.push('\n');
        let context = Context { request: Some("r \"1\""), clock: Some(1.5), ..Context::default() };
        text.push_str(&serde_json::to_string(&Record::new(event, &context)).unwrap());
    }
    text.push('\n');
    text
}

fn audited(text: &[u8]) -> Result<AuditReport, TraceError> {
    audit("t.jsonl", text, &AuditOptions::default())
}

fn leniently(text: &[u8]) -> Result<AuditReport, TraceError> {
    audit("t.jsonl", text, &AuditOptions { lenient: true, ..AuditOptions::default() })
}

fn said(lines: &str) -> String {
    audited(format!("{}\n{lines}\n", header()).as_bytes()).unwrap_err().to_string()
}

struct Keep(Vec<Event>);

impl Sink for Keep {
    fn declare(&mut self, _: &NodeDeclaration) {}

    fn event(&mut self, _: u64, context: &Context<'_>, event: &Event) {
        assert_eq!(context.request, Some("r \"1\""));
        self.0.push(event.clone());
    }
}

#[test]
fn every_event_survives_the_round_trip() {
    let life = Life { request: 7, generation: 3 };
    let mut events = request(1, 2, 3);
    events.insert(1, Event::Decide { life, group: 1, rank: 2, verdict: Verdict::Rejected });
    events.insert(1, Event::Crash { node: Node(1), life });
    events.push(Event::Finish {
        life,
        told: Answer { verdict: Verdict::Aborted, prompt_tokens: 0, tokens_of: None },
        processed: None,
    });
    let text = written(&events);
    let mut keep = Keep(Vec::new());
    Reader::open("t", text.as_bytes(), false).unwrap().run(&mut keep).unwrap();
    assert_eq!(keep.0, events);
}

#[test]
fn the_example_of_the_documentation_is_clean() {
    let document = include_str!("../docs/trace-schema.md");
    let example = document.split("```").nth(1).unwrap().strip_prefix("json\n").unwrap();
    let report = audited(example.as_bytes()).unwrap();
    assert!(report.is_clean(), "{report}");
    assert_eq!((report.events, report.requests, report.held_slots), (10, 1, 2));
    assert_eq!(report.held[0].to_string(), "held, not leaked: ok on prefill-0 pages 1-2 (2)");
}

#[test]
fn headers_are_strict() {
    let said = |text: &str| {
        assert_eq!(
            leniently(text.as_bytes()).unwrap_err().to_string(),
            audited(text.as_bytes()).unwrap_err().to_string()
        );
        audited(text.as_bytes()).unwrap_err().to_string()
    };
    assert_eq!(said(""), "t.jsonl:1: the trace is empty: its first line must be a `pagefence-trace` header");
    assert_eq!(said("\n\n"), "t.jsonl:2: the trace is empty: its first line must be a `pagefence-trace` header");
    let no_header =
        "the first line is not a header: expected a `pagefence-trace` header or a known recorder's first event";
    assert_eq!(said("hello"), format!("t.jsonl:1: {no_header}"));
    assert_eq!(said("{}"), format!("t.jsonl:1: {no_header}"));
    assert_eq!(
        said(r#"{"schema":"pagefence-trace","version":2,"nodes":"new"}"#),
        "t.jsonl:1: version 2 of the `pagefence-trace` schema is not known; this reads version 1"
    );
    assert_eq!(
        said(r#"{"schema":"other","version":1}"#),
        "t.jsonl:1: the schema `other` is not known; this reads `pagefence-trace`"
    );
    assert_eq!(said(r#"{"schema":"pagefence-trace"}"#), "t.jsonl:1: the header is wrong: it has no version");
    let node = |arenas: &str| {
        format!(r#"{{"schema":"pagefence-trace","version":1,"nodes":[{{"node":0,"arenas":[{arenas}]}}]}}"#)
    };
    let pages = |slots: u32, width: u32| format!(r#"{{"arena":"kv_page","slots":{slots},"width":{width}}}"#);
    assert_eq!(
        said(&node(&pages(u32::MAX, 2))),
        "t.jsonl:1: the header is wrong: the pages of node 0 have 8589934590 cells"
    );
    assert_eq!(said(&node(&pages(4, 0))), "t.jsonl:1: the header is wrong: node 0 declares no pages at all");
    assert_eq!(
        said(&node(&format!("{},{}", pages(4, 1), pages(4, 1)))),
        "t.jsonl:1: the header is wrong: node 0 declares its pages twice"
    );
}

#[test]
fn bad_lines_are_named_by_file_and_line() {
    let alloc = |runs: &str| {
        said(&format!(r#"{{"event":"alloc","life":0,"slots":{{"node":1,"arena":"kv_page","runs":{runs}}}}}"#))
    };
    assert_eq!(alloc("[[60,5]]"), "t.jsonl:2: the run 60+5 reaches past the 64 slots that there are");
    assert_eq!(
        alloc("[[4294967295,4294967295]]"),
        "t.jsonl:2: the run 4294967295+4294967295 reaches past the 64 slots that there are"
    );
    assert!(alloc("[[4294967296,1]]").starts_with("t.jsonl:2: not a valid record: invalid value"));
    assert!(alloc("[[1]]").starts_with("t.jsonl:2: not a valid record: invalid length 1"));
    assert_eq!(said(r#"{"event":"begin"}"#), "t.jsonl:2: `begin` needs the field `life`");
    assert!(said(r#"{"event":"begun"}"#).contains("unknown variant `begun`"));
    assert_eq!(said("\n\0\0"), "t.jsonl:3: not a valid record: expected value (column 1)");
    assert_eq!(said(r#"{"event":"settle","op":1}"#), "t.jsonl:2: operation 1 settles but is not live");
    let cut = format!("{}\n{{\"event\":\"beg", header());
    assert_eq!(
        audited(cut.as_bytes()).unwrap_err().to_string(),
        "t.jsonl:2: the last line is cut off: EOF while parsing a string"
    );
    let bytes = [header().as_bytes(), b"\n{\"event\":\"begin\",\"life\":0,\"request\":\"\xff\"}\n"].concat();
    assert_eq!(audited(&bytes).unwrap_err().to_string(), "t.jsonl:2: not a valid record: invalid UTF-8 (column 38)");
}

#[test]
fn a_lenient_reader_skips_and_counts() {
    let mut text = written(&request(0, 1, 2)).into_bytes();
    text.extend_from_slice(b"\0\0\n{\n");
    text.extend(std::iter::repeat_n(b'x', MAX_LINE + 1));
    text.extend_from_slice(b"\n{\"event\":\"begin\",\"life\":1}\n{\"event\":\"be");
    assert!(matches!(audited(&text).unwrap_err().problem, Problem::Malformed { .. }));
    let report = leniently(&text).unwrap();
    assert_eq!((report.events, report.requests, report.skipped, report.lines), (12, 2, 4, 17));
    assert!(report.is_clean());
    assert_eq!(report.first_skipped[0], "t.jsonl:13: not a valid record: expected value (column 1)");
    assert_eq!(report.first_skipped[2], "t.jsonl:15: the line is longer than 16777216 bytes");
}

#[test]
fn violations_are_counted_beyond_what_is_kept() {
    let life = Life::first(0);
    let free = Event::Free { life, slots: slots(DECODE, 1, 1) };
    let report = audited(written(&vec![free; 1500]).as_bytes()).unwrap();
    assert_eq!((report.violations, report.findings.len()), (1500, 1000));
    assert_eq!(report.findings[999].violation.broke, Label(1001));
}

/// Requests that follow one another, each on pages of its own choice, interleaved two by two.
fn legal() -> impl Strategy<Value = Vec<Event>> {
    let one = (0..PAGES / 2 - 8, 1..8_u32);
    proptest::collection::vec((one.clone(), one, any::<u64>()), 1..8).prop_map(|pairs| {
        let mut events = Vec::new();
        for (index, ((from, count), (other_from, other_count), mut order)) in pairs.into_iter().enumerate() {
            let number = 2 * index as u32;
            let mut left = request(number, from, count).into_iter().peekable();
            let mut right = request(number + 1, PAGES / 2 + other_from, other_count).into_iter().peekable();
            while left.peek().is_some() || right.peek().is_some() {
                let first = if order & 1 == 0 { left.next() } else { right.next() };
                events.extend(first.or_else(|| left.next()).or_else(|| right.next()));
                order >>= 1;
            }
        }
        events
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn a_legal_trace_passes(events in legal()) {
        let report = audited(written(&events).as_bytes()).unwrap();
        prop_assert!(report.is_clean(), "{}", report);
        prop_assert_eq!(report.events, events.len() as u64);
        prop_assert_eq!(report.held_slots, 0);
    }

    #[test]
    fn a_planted_violation_is_flagged_where_it_is_planted(
        events in legal(),
        pick in any::<prop::sample::Index>(),
        plant in 0..4_usize,
    ) {
        let mut events = events;
        let posts: Vec<usize> = (0..events.len()).filter(|&at| matches!(events[at], Event::Post { .. })).collect();
        let at = posts[pick.index(posts.len())];
        let Event::Post { life, target: Some(target), .. } = events[at].clone() else { unreachable!() };
        let run = target.runs[0];
        let owned = slots(DECODE, run.start / WIDTH, run.len / WIDTH);
        let (kind, planted) = match plant {
            0 => (Kind::FreeInFlight, Event::Free { life, slots: owned }),
            1 => (Kind::TornRead, Event::Read { life, cells: target }),
            2 => (Kind::ForeignFree, Event::Free { life: Life::first(900), slots: owned }),
            _ => (Kind::DoubleAlloc, Event::Alloc { life: Life::first(900), slots: owned }),
        };
        events.insert(at + 1, planted);
        let report = audited(written(&events).as_bytes()).unwrap();
        // The header is line 1 and the post line `at + 2`.
        let line = Label(at as u32 + 3);
        let first = &report.findings[0].violation;
        prop_assert_eq!(first.broke, line);
        let here = report.findings.iter().filter(|finding| finding.violation.broke == line);
        prop_assert!(here.into_iter().any(|finding| finding.violation.kind == kind), "{}", report);
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..512)) {
        let _ = audited(&bytes);
        let _ = leniently(&bytes);
        let _ = leniently(&[header().as_bytes(), b"\n", &bytes].concat());
    }

    #[test]
    fn damaged_traces_never_panic(
        events in legal(),
        damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..40),
        from_lines in any::<bool>(),
    ) {
        let text = written(&events);
        let first = text.find('\n').unwrap() + 1;
        let mut bytes = text.into_bytes();
        for (at, byte) in damage {
            let from = if from_lines { first } else { 0 };
            let at = from + at.index(bytes.len() - from);
            // Mostly what keeps JSON alive, so that damage gets through to the oracle.
            bytes[at] = if bytes[at].is_ascii_digit() { b'0' + byte % 10 } else { byte };
        }
        let _ = audited(&bytes);
        let _ = leniently(&bytes);
    }

    #[test]
    fn shuffled_traces_never_panic(events in legal(), swaps in proptest::collection::vec(any::<[prop::sample::Index; 2]>(), 1..40)) {
        let mut events = events;
        for [one, other] in swaps {
            let len = events.len();
            events.swap(one.index(len), other.index(len));
        }
        prop_assert!(leniently(written(&events).as_bytes()).is_ok());
    }
}
