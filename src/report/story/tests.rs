//! A short script, told word by word.

use super::*;
use crate::cell::{Lane as Wire, Scope, Site};
use crate::explore::Words;
use crate::lifetime::Kind;
use crate::report::timeline::Lane;

fn config(profile: &str, change: impl Fn(&mut Scope)) -> Config {
    let text = "name = 'x'\npage_size = 2\nprefill_pages = 3\ndecode_pages = 3\nslices = 2\n\
                faults = { aborts = 1, losses = 1 }\ntimers = { bootstrap = 2, waiting = 2, release = 1 }\n\
                requests = [{ prompt = 4, max_new = 2 }, { prompt = 4, max_new = 2 }]\n";
    let mut scope: Scope = toml::from_str(text).unwrap();
    change(&mut scope);
    Config { switches: Profile::preset(profile).unwrap().switches, scope }
}

/// Each step in a line: `2 decode>prefill decode: reserves … [D7]`.
fn lines(timeline: &Timeline) -> Vec<String> {
    let line = |step: &crate::report::TimelineStep| {
        let to = step.toward.map_or_else(String::new, |lane| format!(">{}", lane.name()));
        let fault = if step.fault { "!" } else { "" };
        let reference = step.protocol.as_ref().map_or_else(String::new, |reference| format!(" [{reference}]"));
        format!("{} {}{to}{fault} {}: {}{reference}", step.number, step.lane.name(), step.actor, step.text)
    };
    timeline.steps.iter().map(line).collect()
}

const HANDSHAKE: Wire = Wire::ToPrefill { from: 0, to: 0 };
const RELEASED_UNDER_A_WRITE: [Step; 8] = [
    Step::Submit,
    Step::Decode,
    Step::Deliver(HANDSHAKE),
    Step::Prefill,
    Step::Worker(0),
    Step::Worker(0),
    Step::Abort(0),
    Step::Decode,
];

/// The same before 0.5.20, where a worker does not look at the room of what it has taken.
fn without_a_look() -> Vec<Step> {
    [&RELEASED_UNDER_A_WRITE[..4], &RELEASED_UNDER_A_WRITE[5..]].concat()
}

#[test]
fn a_release_under_a_live_write() {
    let words = Words {
        kind: Kind::FreeInFlight,
        started: Some(Site::WorkerPost),
        released: Some(Site::DecodeReleaseNow),
        broke: Site::DecodeReleaseNow,
    };
    let config = config("sglang-0.5.11", |_| ());
    let told = story(&config, &without_a_look(), Some(&words.into()));
    let expected = [
        "1 client>prefill client: sends A: a prompt of 4 tokens, 2 to generate [5]",
        "2 decode>prefill decode: reserves destination pages (A's pages 0-1); reserves a metadata row (A's row 0); \
         sends A's page list; A enters the transfer queue [D7]",
        "3 decode>prefill decode to prefill: A's page list arrives [5]",
        "4 prefill prefill: reserves a metadata row (A's row 0); reserves source pages (A's pages 0-1); the forward \
         writes source pages (A's pages 0-1); fills its metadata row (A's row 0); … [P8]",
        "5 prefill worker 0: posts the write of KV pages (A: prefill pages 0-1 to decode pages 0-1) [P13]",
        "6 client>decode! client: aborts A on both servers [7]",
        "7 decode decode: sees the transfer failed and releases at once (A's pages 0-1, A's row 0); A leaves the \
         transfer queue [D12]",
    ];
    assert_eq!(lines(&told), expected);
    let labels: Vec<&str> = told.watched.iter().map(|slot| slot.label.as_str()).collect();
    assert_eq!(labels, ["decode page 0", "decode page 1", "prefill page 0", "prefill page 1"]);
    assert_eq!(told.violations.len(), 1);
    let marked = &told.violations[0];
    assert_eq!((marked.started, marked.released, marked.broke), (Some(5), Some(7), 7));
    assert_eq!(marked.watched, [0, 1]);
    assert_eq!(told.title, "pages 0-1 of A are freed while an access is still in flight");
    assert_eq!(told.slot(4, 0).in_flight.len(), 1);
}

#[test]
fn a_story_is_about_its_own_violation_though_a_worse_one_came_before() {
    let words = Words {
        kind: Kind::ReuseInFlight,
        started: Some(Site::WorkerPost),
        released: Some(Site::DecodeReleaseNow),
        broke: Site::DecodeAlloc,
    };
    let script = [&without_a_look()[..], &[Step::Land { op: 0, piece: 0 }, Step::Submit, Step::Decode]].concat();
    let told = story(&config("sglang-0.5.11", |_| ()), &script, Some(&words.into()));
    assert_eq!(told.worst().map(|marked| marked.kind), Some(Kind::WriteAfterFree));
    let subject = told.subject().unwrap();
    assert_eq!(subject.kind, Kind::ReuseInFlight);
    assert_eq!((subject.started, subject.released, subject.broke), (Some(5), Some(7), 10));
    assert_eq!(told.title, subject.headline);
}

#[test]
fn the_tail_tells_what_the_drain_does() {
    // The script stops after the post: the drain lands the write, ends the request, and nothing breaks.
    let config = config("reference", |_| ());
    let told = story(&config, &RELEASED_UNDER_A_WRITE[..6], None);
    assert!(told.violations.is_empty(), "{:?}", told.violations);
    assert_eq!(told.title, "nothing breaks");
    let lines = lines(&told);
    let has = |text: &str| assert!(lines.iter().any(|line| line.contains(text)), "no `{text}` in {lines:#?}");
    has("write 0: 2 tokens of A land in decode page 0");
    has("write 0: 2 tokens of A land in decode page 1; the write is over");
    has("commits the transfer (A's row 0)");
    has("answers (A: success)");
}

#[test]
fn a_lost_message_is_named() {
    let config = config("sglang-0.5.11", |_| ());
    let told = story(&config, &[Step::Submit, Step::Decode, Step::Lose(HANDSHAKE)], None);
    let lines = lines(&told);
    assert!(lines.iter().any(|line| line.ends_with("fabric! network: A's page list is lost [5]")), "{lines:#?}");
}

#[test]
fn what_is_found_at_rest_is_the_last_step() {
    let config = config("sglang-0.5.11", |scope| scope.timers = crate::cell::Timers::default());
    let told = story(&config, &[Step::Submit, Step::Decode, Step::Lose(HANDSHAKE)], None);
    let stuck = told.violations.iter().find(|marked| marked.kind == Kind::Stuck).expect("nobody ends A");
    let last = told.steps.last().unwrap();
    assert_eq!((stuck.started, stuck.broke), (Some(1), last.number));
    assert!(last.text.starts_with("nothing is left to do"), "{}", last.text);
}

#[test]
fn ranks_are_told_apart() {
    let config = config("sglang-0.5.11", |scope| scope.decode_ranks = 2);
    let told = story(&config, &[Step::Submit, Step::Decode], None);
    let lines = lines(&told);
    assert!(lines[1].contains("(A's pages 0-1 of rank 0, A's pages 0-1 of rank 1)"), "{lines:#?}");
    let named = |slot: &crate::report::WatchedSlot| match slot.lane {
        Lane::Decode => slot.label.starts_with("decode 0 ") || slot.label.starts_with("decode 1 "),
        _ => slot.label.starts_with("prefill page"),
    };
    assert!(!told.watched.is_empty() && told.watched.iter().all(named), "{:?}", told.watched);
}

#[test]
fn a_page_of_a_million_tokens_is_not_drawn() {
    let config = config("sglang-0.5.11", |scope| {
        scope.page_size = 1 << 28;
        scope.chunk = u32::MAX;
    });
    let told = story(&config, &RELEASED_UNDER_A_WRITE, None);
    assert!(told.watched.iter().all(|slot| slot.cells == 1), "{:?}", told.watched);
    assert!(!told.steps.is_empty());
}
