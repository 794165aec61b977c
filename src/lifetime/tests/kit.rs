//! Short words for events, and a bench to run them on.

use crate::lifetime::{
    Answer, Arena, Cells, Event, Kind, Label, Life, Node, OpId, Oracle, Place, Slots, Span, Spans, Verdict, Violation,
};
use std::ops::Range;

/// Pages of the prefill node, of four cells each.
pub(super) const PREFILL: Place = Place { node: Node(0), arena: Arena::KvPage };
/// Pages of the decode node, of four cells each.
pub(super) const DECODE: Place = Place { node: Node(1), arena: Arena::KvPage };
/// Metadata rows of the decode node.
pub(super) const ROWS: Place = Place { node: Node(1), arena: Arena::MetadataRow };

pub(super) const A: Life = Life::first(0);
pub(super) const B: Life = Life::first(1);
/// A's second attempt.
pub(super) const A1: Life = Life { request: 0, generation: 1 };
/// Who owns the prefix cache.
pub(super) const TREE: Life = Life::first(100);

/// An oracle with two pools of eight pages and four metadata rows, whose events are labelled 1, 2, 3, …
pub(super) struct Bench {
    pub(super) oracle: Oracle,
    pub(super) label: Label,
}

impl Bench {
    pub(super) fn new() -> Self {
        let mut oracle = Oracle::default();
        oracle.declare(PREFILL, 8, 4);
        oracle.declare(DECODE, 8, 4);
        oracle.declare(ROWS, 4, 1);
        Self { oracle, label: Label(0) }
    }

    /// A bench on which some events went through without a violation.
    pub(super) fn after<const N: usize>(events: [Event; N]) -> Self {
        let mut bench = Self::new();
        bench.clean(events);
        bench
    }

    /// The violations of the next event.
    #[expect(clippy::needless_pass_by_value, reason = "events are written where they are used")]
    pub(super) fn step(&mut self, event: Event) -> Vec<Violation> {
        self.label.0 += 1;
        let mut out = Vec::new();
        self.oracle.apply(self.label, &event, &mut out);
        out
    }

    /// Events that break nothing.
    pub(super) fn clean<const N: usize>(&mut self, events: [Event; N]) {
        for event in events {
            assert_eq!(self.step(event.clone()), [], "{event:?}");
        }
    }

    /// The kinds of violation of the next event.
    pub(super) fn kinds(&mut self, event: Event) -> Vec<Kind> {
        self.step(event).iter().map(|found| found.kind).collect()
    }

    /// What is wrong when all work is done now.
    pub(super) fn quiesce(&self, held: &[Life]) -> Vec<Violation> {
        let mut out = Vec::new();
        self.oracle.quiesce(Label(99), held, &mut out);
        out
    }
}

/// A violation of which nothing but this is known; tests fill in the rest.
pub(super) fn bare(kind: Kind, life: Life, broke: u32) -> Violation {
    Violation::bare(kind, life, Label(broke))
}

pub(super) fn span(range: Range<u32>) -> Span {
    Span::new(range.start, range.end - range.start)
}

pub(super) fn spans<const N: usize>(ranges: [Range<u32>; N]) -> Spans {
    ranges.into_iter().map(span).collect()
}

pub(super) fn cells<const N: usize>(place: Place, ranges: [Range<u32>; N]) -> Option<Cells> {
    Some(Cells { place, runs: spans(ranges) })
}

pub(super) fn begin(life: Life) -> Event {
    Event::Begin { life }
}

pub(super) fn alloc(life: Life, place: Place, slots: Range<u32>) -> Event {
    Event::Alloc { life, slots: Slots { place, runs: spans([slots]) } }
}

pub(super) fn free(life: Life, place: Place, slots: Range<u32>) -> Event {
    Event::Free { life, slots: Slots { place, runs: spans([slots]) } }
}

pub(super) fn write(life: Life, place: Place, run: Range<u32>) -> Event {
    Event::Write { life, cells: Cells { place, runs: spans([run]) } }
}

pub(super) fn read(life: Life, place: Place, run: Range<u32>) -> Event {
    Event::Read { life, cells: Cells { place, runs: spans([run]) } }
}

pub(super) fn post(op: u32, life: Life, source: Option<Cells>, target: Option<Cells>) -> Event {
    Event::Post { op: OpId(op), life, source, target }
}

/// A write that comes from outside the model.
pub(super) fn incoming(op: u32, life: Life, place: Place, run: Range<u32>) -> Event {
    post(op, life, None, cells(place, [run]))
}

/// A read whose bytes leave the model.
pub(super) fn outgoing(op: u32, life: Life, place: Place, run: Range<u32>) -> Event {
    post(op, life, cells(place, [run]), None)
}

pub(super) fn land(op: u32, part: Range<u32>) -> Event {
    Event::Land { op: OpId(op), part: span(part) }
}

pub(super) fn settle(op: u32) -> Event {
    Event::Settle { op: OpId(op) }
}

pub(super) fn decide(life: Life, group: u8, rank: u8, verdict: Verdict) -> Event {
    Event::Decide { life, group, rank, verdict }
}

/// The client is told; usage is right and the tokens are its own.
pub(super) fn finish(life: Life, verdict: Verdict) -> Event {
    Event::Finish { life, told: Answer { verdict, prompt_tokens: 10, tokens_of: Some(life) }, processed: Some(10) }
}

/// The client is told of a success, with this usage and these tokens.
pub(super) fn answer(life: Life, prompt_tokens: u32, tokens_of: Option<Life>, processed: Option<u32>) -> Event {
    Event::Finish { life, told: Answer { verdict: Verdict::Success, prompt_tokens, tokens_of }, processed }
}
