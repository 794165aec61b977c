//! What the five recordings don't show of the recorder: batches, reused names, cut lists, shared prefixes.

use pagefence::lifetime::{Arena, Event, Life, Node, Place, Span, Verdict};
use pagefence::trace::schema::{Context, NodeDeclaration};
use pagefence::trace::{AuditOptions, Reader, Sink, audit};

/// Pages of 2 tokens; two buffers of 16 bytes a page on each node.
const READY: &str = r#"
{"role":"prefill","ev":"ready","version":"0.5.11","page_size":2,"free":200,"kv_ptrs":["0x1000","0x2000"],"kv_item_lens":[16,16]}
{"role":"decode","ev":"ready","version":"0.5.11","page_size":2,"free":200,"kv_ptrs":["0x5000","0x6000"],"kv_item_lens":[16,16]}
"#;

#[derive(Default)]
struct Told(Vec<(u64, Event)>);

impl Sink for Told {
    fn declare(&mut self, _: &NodeDeclaration) {}

    fn event(&mut self, line: u64, _: &Context<'_>, event: &Event) {
        self.0.push((line, event.clone()));
    }
}

fn events(lines: &str) -> Vec<Event> {
    let text = format!("{}{}", READY.trim_start(), lines.trim_start());
    let mut told = Told::default();
    Reader::open("t", text.as_bytes(), false).unwrap().run(&mut told).unwrap();
    let report = audit("t", text.as_bytes(), &AuditOptions::default()).unwrap();
    assert!(report.is_clean(), "{report}");
    told.0.into_iter().map(|(_, event)| event).collect()
}

fn place(node: u8) -> Place {
    Place { node: Node(node), arena: Arena::KvPage }
}

/// Who was given which pages of a node, in the order of the trace.
fn given(events: &[Event], node: u8) -> Vec<(u32, Vec<Span>)> {
    let alloc = |event: &Event| match event {
        Event::Alloc { life, slots } if slots.place == place(node) => Some((life.request, slots.runs.to_vec())),
        _ => None,
    };
    events.iter().filter_map(alloc).collect()
}

const TWO_PUBLISHED: &str = r#"
{"role":"prefill","ev":"queued","rid":"x"}
{"role":"prefill","ev":"queued","rid":"y"}
{"role":"decode","ev":"queued","rid":"x"}
{"role":"decode","ev":"queued","rid":"y"}
{"role":"decode","ev":"reserve","via":"alloc_extend","pages":[1,2],"tokens":4,"free_after":196}
{"role":"decode","ev":"publish_dst","room":5,"pages":[2,1],"aux":0}
{"role":"decode","ev":"reserve","via":"alloc_extend","pages":[3,4],"tokens":4,"free_after":192}
{"role":"decode","ev":"publish_dst","room":6,"pages":[3,4],"aux":1}
{"role":"prefill","ev":"reserve","via":"alloc_extend","pages":[1,2,3,4],"tokens":8,"free_after":192}
{"role":"prefill","ev":"run_batch","mode":"1","reqs":[{"rid":"x","pages":[1,4],"ctx_tokens":3},{"rid":"y","pages":[2,3],"ctx_tokens":3}]}
{"role":"prefill","ev":"send_chunk","room":5,"src_pages":[4,1]}
{"role":"prefill","ev":"send_chunk","room":6,"src_pages":[2,3]}
{"role":"prefill","ev":"xfer_post","id":1,"src":["0x1040","0x1010"],"dst":["0x5020","0x5010"],"lens":[16,16],"n":4}
{"role":"prefill","ev":"xfer_post","id":2,"src":["0x1020"],"dst":["0x5030"],"lens":[32],"n":2}
{"role":"prefill","ev":"xfer_done","id":2,"status":0}
{"role":"prefill","ev":"xfer_done","id":1,"status":0}
{"role":"decode","ev":"commit","rid":"x","room":5,"prompt_tokens":4}
{"role":"decode","ev":"commit","rid":"y","room":6,"prompt_tokens":4}
"#;

#[test]
fn a_batch_is_told_apart_by_its_pages() {
    let events = events(TWO_PUBLISHED);
    assert_eq!(
        given(&events, 0),
        [(0, vec![Span::new(4, 1), Span::new(1, 1)]), (1, vec![Span::new(2, 2)])],
        "in the order in which they are sent"
    );
    let written: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            Event::Write { life, cells } => Some((life.request, cells.runs.to_vec())),
            _ => None,
        })
        .collect();
    assert_eq!(written, [(0, vec![Span::new(8, 2), Span::new(2, 2)]), (1, vec![Span::new(4, 4)])]);
}

#[test]
fn pages_that_two_requests_want_at_once_go_to_whom_later_lists_show() {
    let steps = r#"
{"role":"decode","ev":"reserve","via":"alloc_decode","pages":[5,6],"tokens":2,"free_after":188}
{"role":"decode","ev":"run_batch","mode":"2","reqs":[{"rid":"x","pages":[1,2],"ctx_tokens":4},{"rid":"y","pages":[3,4],"ctx_tokens":4}]}
{"role":"decode","ev":"reserve","via":"alloc_decode","pages":[5,6],"tokens":2,"free_after":188}
{"role":"decode","ev":"run_batch","mode":"2","reqs":[{"rid":"x","pages":[1,2,6],"ctx_tokens":5},{"rid":"y","pages":[3,4,5],"ctx_tokens":5}]}
{"role":"decode","ev":"reserve","via":"alloc_decode","pages":[7,8],"tokens":2,"free_after":184}
{"role":"decode","ev":"run_batch","mode":"2","reqs":[{"rid":"x","pages":[1,2,6],"ctx_tokens":6},{"rid":"y","pages":[3,4,5],"ctx_tokens":6}]}
{"role":"decode","ev":"free","pages":[1,2,6,8],"free_after":192}
{"role":"decode","ev":"client","rid":"x","finish":{"type":"stop"}}
{"role":"decode","ev":"free","pages":[3,4,5,7],"free_after":200}
{"role":"decode","ev":"client","rid":"y","finish":{"type":"abort"}}
"#;
    let events = events(&format!("{}{}", TWO_PUBLISHED.trim_start(), steps.trim_start()));
    let one = |request: u32, page: u32| (request, vec![Span::new(page, 1)]);
    assert_eq!(given(&events, 1)[2..], [one(1, 5), one(0, 6), one(1, 7), one(0, 8)]);
    let told: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            Event::Finish { life, told, .. } => Some((life.request, told.verdict)),
            _ => None,
        })
        .collect();
    assert_eq!(told, [(0, Verdict::Success), (1, Verdict::Aborted)]);
}

#[test]
fn a_cut_list_of_descriptors_is_completed_from_what_was_sent() {
    let lines = r#"
{"role":"prefill","ev":"queued","rid":"x"}
{"role":"decode","ev":"queued","rid":"x"}
{"role":"decode","ev":"reserve","via":"alloc_extend","pages":[1,2,3],"tokens":6,"free_after":194}
{"role":"decode","ev":"publish_dst","room":5,"pages":[3,1,2],"aux":null}
{"role":"prefill","ev":"reserve","via":"alloc_extend","pages":[7,8,9],"tokens":6,"free_after":194}
{"role":"prefill","ev":"run_batch","mode":"1","reqs":[{"rid":"x","pages":[7,8,9],"ctx_tokens":5}]}
{"role":"prefill","ev":"send_chunk","room":5,"src_pages":[9,7,8]}
{"role":"prefill","ev":"xfer_post","id":1,"src":["0x1090"],"dst":["0x5030"],"lens":[16],"n":6}
{"role":"prefill","ev":"xfer_done","id":1,"status":0}
{"role":"decode","ev":"commit","rid":"x","room":5,"prompt_tokens":6}
"#;
    let events = events(lines);
    let posted = events.iter().find_map(|event| match event {
        Event::Post { source, target, .. } => Some((source.clone()?.runs.to_vec(), target.clone()?.runs.to_vec())),
        _ => None,
    });
    let source = vec![Span::new(18, 2), Span::new(14, 4)];
    assert_eq!(posted, Some((source, vec![Span::new(6, 2), Span::new(2, 4)])));
}

#[test]
fn a_shared_prefix_is_not_judged_by_whose_it_is() {
    let lines = r#"
{"role":"prefill","ev":"queued","rid":"x"}
{"role":"decode","ev":"queued","rid":"x"}
{"role":"prefill","ev":"poll","side":"sender","room":4,"state":"Bootstrapping"}
{"role":"prefill","ev":"reserve","via":"alloc_extend","pages":[1,2],"tokens":4,"free_after":196}
{"role":"prefill","ev":"run_batch","mode":"1","reqs":[{"rid":"x","pages":[1,2],"ctx_tokens":3}]}
{"role":"prefill","ev":"queued","rid":"y"}
{"role":"decode","ev":"queued","rid":"y"}
{"role":"decode","ev":"poll","side":"receiver","room":4,"state":"WaitingForInput"}
{"role":"decode","ev":"reserve","via":"alloc_extend","pages":[1,2,3],"tokens":6,"free_after":194}
{"role":"decode","ev":"publish_dst","room":5,"pages":[1,2,3],"aux":0}
{"role":"prefill","ev":"reserve","via":"alloc_extend","pages":[3],"tokens":2,"free_after":194}
{"role":"prefill","ev":"run_batch","mode":"1","reqs":[{"rid":"y","pages":[1,2,3],"ctx_tokens":5}]}
{"role":"prefill","ev":"send_chunk","room":5,"src_pages":[1,2,3]}
{"role":"prefill","ev":"xfer_post","id":1,"src":["0x1010","0x2010"],"dst":["0x5010","0x6010"],"lens":[48,48],"n":2}
{"role":"prefill","ev":"xfer_done","id":1,"status":0}
{"role":"decode","ev":"commit","rid":"y","room":5,"prompt_tokens":6}
"#;
    let posts = events(lines).into_iter().filter(|event| matches!(event, Event::Post { .. })).count();
    assert_eq!(posts, 2, "its own page, and what it shares");
}

#[test]
fn a_name_that_is_queued_again_is_a_new_life() {
    let lines = r#"
{"role":"prefill","ev":"queued","rid":"x"}
{"role":"decode","ev":"queued","rid":"x"}
{"role":"decode","ev":"client","rid":"x","finish":{"type":"abort","status_code":500}}
{"role":"decode","ev":"queued","rid":"x"}
{"role":"prefill","ev":"queued","rid":"x"}
"#;
    let begun: Vec<_> = events(lines)
        .into_iter()
        .filter_map(|event| match event {
            Event::Begin { life } => Some(life),
            _ => None,
        })
        .collect();
    assert_eq!(begun, [Life { request: 0, generation: 0 }, Life { request: 0, generation: 1 }]);
}

#[test]
fn a_failed_transfer_stays_live_and_a_refusal_answered_with_tokens_is_a_false_success() {
    let failed = r#"
{"role":"prefill","ev":"queued","rid":"x"}
{"role":"decode","ev":"queued","rid":"x"}
{"role":"decode","ev":"reserve","via":"alloc_extend","pages":[1],"tokens":2,"free_after":198}
{"role":"decode","ev":"publish_dst","room":5,"pages":[1],"aux":0}
{"role":"prefill","ev":"xfer_post","id":1,"src":["0x1010"],"dst":["0x5010"],"lens":[16],"n":1}
{"role":"prefill","ev":"xfer_done","id":1,"status":-1}
{"role":"decode","ev":"free","pages":[1],"free_after":200}
{"role":"prefill","ev":"client","rid":"x","finish":{"type":"abort","status_code":400}}
{"role":"decode","ev":"client","rid":"x","finish":{"type":"length"}}
"#;
    let text = format!("{}{}", READY.trim_start(), failed.trim_start());
    let report = audit("t", text.as_bytes(), &AuditOptions::default()).unwrap();
    let kinds: Vec<_> = report.findings.iter().map(|f| (f.violation.kind.name(), f.violation.broke.0)).collect();
    assert_eq!(kinds, [("free-in-flight", 9), ("false-success", 11)]);
}
