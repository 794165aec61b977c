//! The timelines that tests draw: the public race, by hand.

use super::Lane::{Client, Decode, Fabric, Prefill};
use super::{MarkedViolation, Timeline, TimelineStep, WatchedSlot};
use crate::lifetime::{Answer, Arena, Cells, Event, Kind, Life, Node, OpId, Place, Slots, Span, Verdict};

pub(super) const A: Life = Life::first(0);
pub(super) const B: Life = Life::first(1);
const KV: Place = Place { node: Node(1), arena: Arena::KvPage };

fn pages(start: u32, len: u32) -> Slots {
    Slots { place: KV, runs: [Span::new(start, len)].into_iter().collect() }
}

fn cells(start: u32, len: u32) -> Cells {
    Cells { place: KV, runs: [Span::new(start, len)].into_iter().collect() }
}

fn finish(life: Life, verdict: Verdict) -> Event {
    let told = Answer { verdict, prompt_tokens: 8, tokens_of: None };
    Event::Finish { life, told, processed: None }
}

fn violation(
    kind: Kind,
    headline: &str,
    watched: &[usize],
    steps: [Option<usize>; 2],
    broke: usize,
) -> MarkedViolation {
    let [started, released] = steps;
    MarkedViolation { kind, headline: headline.into(), watched: watched.to_vec(), started, released, broke }
}

/// A's pages 1-2 are freed under a live write, B gets page 2, the late write lands, B reads A's bytes.
pub(super) fn s14() -> Timeline {
    let mut t = Timeline::new("S14: decode frees pages that prefill still writes");
    t.subtitle = [
        "profile sglang-0.5.11/mooncake",
        "scope 2 requests x 4 pages",
        "seed 0x5eed",
        "found by exhaustive search, 19 steps",
    ]
    .map(String::from)
    .to_vec();
    t.reproduce = Some("pagefence replay findings/stale-read-p13-d12.json".into());
    t.script = Some("request A 8 tokens\nrequest B 4 tokens\nabort A\nland A late".into());
    t.watched = vec![WatchedSlot::new("page 1", Decode, KV, 1, 4), WatchedSlot::new("page 2", Decode, KV, 2, 4)];
    let step = TimelineStep::new;
    t.push(step(Client, "client A", "asks with 8 tokens").to(Prefill).told(Event::Begin { life: A }));
    t.push(
        step(Decode, "rank 0", "reserves pages 1-2 for A")
            .because("D7")
            .told(Event::Alloc { life: A, slots: pages(1, 2) }),
    );
    t.push(step(Decode, "rank 0", "publishes A's page list").because("D7").to(Prefill));
    t.push(step(Prefill, "listener", "room of A is waiting for input").because("P3"));
    t.push(step(Prefill, "rank 0", "computes A's only chunk and queues its send").because("P11"));
    let post = Event::Post { op: OpId(0), life: A, source: None, target: Some(cells(4, 8)) };
    let post = t.push(step(Prefill, "worker 0", "posts the write of A into pages 1-2").because("P13").told(post));
    t.push(
        step(Fabric, "link 0", "lands the first 4 tokens of A")
            .told(Event::Land { op: OpId(0), part: Span::new(0, 4) }),
    );
    t.push(step(Client, "client A", "gives up; the abort reaches decode").because("D10").to(Decode).faulty());
    let free = Event::Free { life: A, slots: pages(1, 2) };
    let free = t.push(step(Decode, "rank 0", "releases A's pages 1-2 at once, no hold").because("D12").told(free));
    t.push(
        step(Decode, "rank 0", "tells the client that A is aborted")
            .because("D12")
            .to(Client)
            .told(finish(A, Verdict::Aborted)),
    );
    t.push(step(Client, "client B", "asks with 4 tokens").to(Prefill).told(Event::Begin { life: B }));
    let reuse = t.push(
        step(Decode, "rank 0", "reserves page 2 for B")
            .because("D7")
            .told(Event::Alloc { life: B, slots: pages(2, 1) }),
    );
    t.push(step(Prefill, "worker 1", "posts the write of B into page 2").because("P13").told(Event::Post {
        op: OpId(1),
        life: B,
        source: None,
        target: Some(cells(8, 4)),
    }));
    t.push(step(Fabric, "link 1", "lands all 4 tokens of B").told(Event::Land { op: OpId(1), part: Span::new(0, 4) }));
    t.push(
        step(Prefill, "worker 1", "B's write is done; room of B succeeds")
            .because("P14")
            .to(Decode)
            .told(Event::Settle { op: OpId(1) }),
    );
    t.push(step(Decode, "rank 0", "commits B's transfer").because("D11"));
    let late = t.push(
        step(Fabric, "link 0", "lands the last 4 tokens of A, late")
            .told(Event::Land { op: OpId(0), part: Span::new(4, 4) }),
    );
    t.push(step(Prefill, "worker 0", "A's write is done").because("P17").told(Event::Settle { op: OpId(0) }));
    let read = t.push(
        step(Decode, "rank 0", "first decode step of B reads page 2")
            .because("D15")
            .told(Event::Read { life: B, cells: cells(8, 4) }),
    );
    t.push(step(Decode, "rank 0", "answers B with 200").to(Client).told(finish(B, Verdict::Success)));
    t.violations = vec![
        violation(
            Kind::FreeInFlight,
            "pages 1-2 of A are freed while its write is in flight",
            &[0, 1],
            [Some(post), None],
            free,
        ),
        violation(
            Kind::ReuseInFlight,
            "page 2 is given to B while the write of A is in flight",
            &[1],
            [Some(post), Some(free)],
            reuse,
        ),
        violation(
            Kind::WriteAfterFree,
            "the late write of A lands in page 2, which B owns",
            &[1],
            [Some(post), Some(free)],
            late,
        ),
        violation(Kind::StaleRead, "B reads page 2 and finds 4 tokens of A", &[1], [Some(post), Some(free)], read),
    ];
    t.fill_slots();
    t
}

/// The same with 14 steps of other requests in the middle.
pub(super) fn long() -> Timeline {
    let mut short = s14();
    let mut t = Timeline { steps: Vec::new(), ..short.clone() };
    let tail = short.steps.split_off(3);
    let mut steps = short.steps;
    steps
        .extend((0..14).map(|i| TimelineStep::new(Prefill, "rank 0", format!("polls the bootstrap queue, round {i}"))));
    steps.extend(tail);
    for mut step in steps {
        step.number = 0;
        t.push(step);
    }
    let moved = |n: usize| if n > 3 { n + 14 } else { n };
    for v in &mut t.violations {
        v.started = v.started.map(moved);
        v.released = v.released.map(moved);
        v.broke = moved(v.broke);
    }
    t.fill_slots();
    t
}

/// A timeline in which every string is hostile.
pub(super) fn hostile() -> Timeline {
    let evil = "<script src=http://evil.example/x>alert(\"1\")</script>&'--> \u{1b}[2J; end\nNote over X: forged";
    let mut t = s14();
    t.title = evil.into();
    t.subtitle = vec![evil.into()];
    t.reproduce = Some(evil.into());
    t.script = Some(evil.into());
    for watched in &mut t.watched {
        watched.label = evil.into();
    }
    for step in &mut t.steps {
        step.actor = evil.into();
        step.text = evil.into();
        step.protocol = Some(evil.into());
    }
    for violation in &mut t.violations {
        violation.headline = evil.into();
    }
    t
}
/// Prefill's source page is reused under a live read: what A's transfer then carries to decode is of another request.
/// A later attempt, a request beyond Z, a metadata row, a page that is half another's, an access that never settles.
pub(super) fn source_reuse() -> Timeline {
    let source = Place { node: Node(0), arena: Arena::KvPage };
    let rows = Place { node: Node(1), arena: Arena::MetadataRow };
    let retry = Life { request: 0, generation: 1 };
    let other = Life::first(31);
    let at = |place, start, len| Cells { place, runs: [Span::new(start, len)].into_iter().collect() };
    let own = |place, start| Slots { place, runs: [Span::new(start, 1)].into_iter().collect() };
    let step = TimelineStep::new;
    let mut t = Timeline::new("S20: prefill has no hold on the pages it sends");
    t.watched = vec![
        WatchedSlot::new("prefill page 9", Prefill, source, 9, 64),
        WatchedSlot::new("page 3", Decode, KV, 3, 64),
        WatchedSlot::new("metadata row 0", Decode, rows, 0, 1),
    ];
    t.push(
        step(Decode, "rank 0", "reserves page 3 and metadata row 0 for the second attempt at A")
            .because("D7")
            .told(Event::Alloc { life: retry, slots: own(KV, 3) })
            .told(Event::Alloc { life: retry, slots: own(rows, 0) }),
    );
    t.push(
        step(Prefill, "rank 0", "computes A's chunk into page 9")
            .because("P10")
            .told(Event::Alloc { life: retry, slots: own(source, 9) })
            .told(Event::Write { life: retry, cells: at(source, 9 * 64, 64) }),
    );
    let post = |op, from, to| Event::Post { op: OpId(op), life: retry, source: from, target: Some(to) };
    let posted = t.push(step(Prefill, "worker 0", "posts A's page 9 to page 3").because("P13").told(post(
        7,
        Some(at(source, 9 * 64, 64)),
        at(KV, 3 * 64, 64),
    )));
    t.push(step(Prefill, "worker 0", "posts A's first token").because("P13").told(post(8, None, at(rows, 0, 1))));
    t.push(step(Fabric, "link 0", "lands 40 tokens").told(Event::Land { op: OpId(7), part: Span::new(0, 40) }));
    t.push(step(Fabric, "link 0", "lands the row").told(Event::Land { op: OpId(8), part: Span::new(0, 1) }));
    t.push(step(Prefill, "worker 0", "A's row is done").told(Event::Settle { op: OpId(8) }));
    t.push(step(Client, "network", "decode's heartbeat is lost").to(Prefill).faulty());
    let free = t.push(
        step(Prefill, "rank 0", "fails A and releases page 9 at once")
            .because("P19")
            .told(Event::Free { life: retry, slots: own(source, 9) }),
    );
    t.push(
        step(Prefill, "rank 0", "computes R31 into page 9")
            .because("P8")
            .told(Event::Alloc { life: other, slots: own(source, 9) })
            .told(Event::Write { life: other, cells: at(source, 9 * 64, 64) }),
    );
    let broke = t.push(
        step(Fabric, "link 0", "takes 24 tokens from page 9 and lands them in page 3")
            .told(Event::Land { op: OpId(7), part: Span::new(40, 24) }),
    );
    t.violations = vec![
        violation(Kind::FreeInFlight, "page 9 is freed while it is being sent", &[0], [Some(posted), None], free),
        violation(
            Kind::ReadAfterFree,
            "the transfer of A#1 takes 24 tokens from page 9, which R31 owns",
            &[0, 1],
            [Some(posted), Some(free)],
            broke,
        ),
    ];
    t.fill_slots();
    t
}
