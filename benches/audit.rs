//! How fast a trace is audited: a million events of our own schema out of memory, through parser, checks and oracle.
//!
//! `cargo bench --bench audit`; divan prints events a second ("item/s") and bytes a second.

use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use pagefence::lifetime::{Answer, Arena, Cells, Event, Life, Node, OpId, Place, Slots, Span, Verdict};
use pagefence::trace::schema::{ArenaDeclaration, Context, Header, NodeDeclaration, Record};
use pagefence::trace::{AuditOptions, Reader, Sink, audit};
use std::collections::VecDeque;
use std::hint::black_box;
use std::io::Write;

const EVENTS: usize = 1_000_000;
const WIDTH: u32 = 64;
const PAGES_EACH: u32 = 8;
/// How many requests are under way at once.
const AT_ONCE: u32 = 32;
const PREFILL: Place = Place { node: Node(0), arena: Arena::KvPage };
const DECODE: Place = Place { node: Node(1), arena: Arena::KvPage };

fn main() {
    divan::main();
}

fn cells(place: Place, lane: u32) -> Cells {
    let runs = [Span::new(lane * PAGES_EACH * WIDTH, PAGES_EACH * WIDTH)].into_iter().collect();
    Cells { place, runs }
}

fn slots(place: Place, lane: u32) -> Slots {
    Slots { place, runs: [Span::new(lane * PAGES_EACH, PAGES_EACH)].into_iter().collect() }
}

/// One request's events: transferred, read five times, answered.
fn request(number: u32, lane: u32) -> VecDeque<Event> {
    let (life, op) = (Life::first(number), OpId(number));
    let tokens = PAGES_EACH * WIDTH;
    let told = Answer { verdict: Verdict::Success, prompt_tokens: tokens, tokens_of: Some(life) };
    let mut events = VecDeque::from([
        Event::Begin { life },
        Event::Alloc { life, slots: slots(DECODE, lane) },
        Event::Alloc { life, slots: slots(PREFILL, lane) },
        Event::Write { life, cells: cells(PREFILL, lane) },
        Event::Post { op, life, source: Some(cells(PREFILL, lane)), target: Some(cells(DECODE, lane)) },
        Event::Land { op, part: Span::new(0, tokens / 2) },
        Event::Land { op, part: Span::new(tokens / 2, tokens / 2) },
        Event::Settle { op },
        Event::Free { life, slots: slots(PREFILL, lane) },
    ]);
    events.extend((0..5).map(|_| Event::Read { life, cells: cells(DECODE, lane) }));
    events.push_back(Event::Free { life, slots: slots(DECODE, lane) });
    events.push_back(Event::Finish { life, told, processed: Some(tokens) });
    events
}

/// A trace in which `AT_ONCE` requests take turns.
fn trace() -> Vec<u8> {
    let pages = AT_ONCE * PAGES_EACH;
    let arena = ArenaDeclaration { arena: Arena::KvPage, slots: pages, width: WIDTH, frees_recorded: true };
    let node = |node, name: &str| NodeDeclaration {
        node: Node(node),
        name: name.to_owned(),
        role: name.to_owned(),
        arenas: vec![arena],
    };
    let mut text = serde_json::to_vec(&Header::new(vec![node(0, "prefill"), node(1, "decode")])).unwrap();
    let mut next = AT_ONCE;
    let mut lanes: Vec<(u32, VecDeque<Event>)> = (0..AT_ONCE).map(|lane| (lane, request(lane, lane))).collect();
    for index in 0..EVENTS {
        let lane = index % lanes.len();
        let (number, events) = &mut lanes[lane];
        if events.is_empty() {
            (*number, *events) = (next, request(next, lane as u32));
            next += 1;
        }
        let event = events.pop_front().unwrap();
        let name = format!("req-{number:08x}");
        let context = Context { request: Some(&name), clock: Some(index as f64 / 1e6), ..Context::default() };
        write!(text, "\n{}", serde_json::to_string(&Record::new(&event, &context)).unwrap()).unwrap();
    }
    text.push(b'\n');
    text
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn audit_a_million_events(bencher: Bencher<'_, '_>) {
    let text = trace();
    bencher.counter(ItemsCount::new(EVENTS)).counter(BytesCount::of_slice(&text)).bench(|| {
        let report = audit("bench", black_box(&text[..]), &AuditOptions::default()).unwrap();
        assert!(report.is_clean() && report.events == EVENTS as u64, "{report}");
    });
}

/// What the parser and the checks take of it.
#[divan::bench(sample_count = 5, sample_size = 1)]
fn read_a_million_events(bencher: Bencher<'_, '_>) {
    struct Count(usize);
    impl Sink for Count {
        fn declare(&mut self, _: &NodeDeclaration) {}

        fn event(&mut self, _: u64, _: &Context<'_>, event: &Event) {
            black_box(event);
            self.0 += 1;
        }
    }
    let text = trace();
    bencher.counter(ItemsCount::new(EVENTS)).counter(BytesCount::of_slice(&text)).bench(|| {
        let mut count = Count(0);
        Reader::open("bench", black_box(&text[..]), false).unwrap().run(&mut count).unwrap();
        assert_eq!(count.0, EVENTS);
    });
}
