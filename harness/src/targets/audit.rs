//! Traces. Any bytes are answered or refused; a legal trace passes; a violation that is planted in it is flagged where it
//! stands.

use super::Crash;
use crate::input::Input;
use crate::worlds::{World, Worlds};
use pagefence::cell::{Config, Profile, decode_node, prefill_node};
use pagefence::explore::Walker;
use pagefence::lifetime::{Arena, Event, Kind, Node};
use pagefence::trace::schema::{ArenaDeclaration, Context, Header, NodeDeclaration, Record};
use pagefence::trace::{AuditOptions, AuditReport, audit as audit_trace};

/// How many violations a report keeps here: few, so that what is beyond them is tried too.
const KEEP: usize = 8;

/// The lowest bit of the first byte: whether the rest is a trace, or an input to make one of. The next: whether bad lines are
/// skipped.
///
/// # Errors
/// A report that contradicts itself, a false alarm, or a planted violation that is missed.
pub fn audit(bytes: &[u8]) -> Result<(), Crash> {
    let Some((kind, content)) = bytes.split_first() else { return Ok(()) };
    if kind & 1 == 1 {
        return planted(content);
    }
    let options = AuditOptions { lenient: kind & 2 == 2, keep: KEEP };
    match audit_trace("fuzz", content, &options) {
        Ok(report) => consistent(&report, content),
        Err(error) if error.to_string().lines().count() > 1 => {
            Err(Crash(format!("a refusal of several lines: {error}")))
        }
        Err(_) => Ok(()),
    }
}

fn consistent(report: &AuditReport, content: &[u8]) -> Result<(), Crash> {
    let lines = content.split(|byte| *byte == b'\n').count() as u64;
    let by_kind: u64 = report.by_kind.values().sum();
    let kept = report.findings.len().min(KEEP) as u64;
    // To render it must not panic either.
    let said = report.to_string().contains("no violation");
    let holds = report.lines <= lines
        && by_kind == report.violations
        && kept == report.violations.min(KEEP as u64)
        && said == report.is_clean();
    if holds { Ok(()) } else { Err(Crash(format!("a report that contradicts itself: {report:?}"))) }
}

/// A walk through a scope under `reference`, which is legal, as a trace; and the same with one slot freed twice.
fn planted(bytes: &[u8]) -> Result<(), Crash> {
    let (at, rest) = bytes.split_at(bytes.len().min(2));
    let at = at.iter().fold(0, |at, byte| at << 8 | usize::from(*byte));
    // One producer is refused by no protection (S01-unmarked): a walk under it is not legal.
    let input = Input { producer: 0, ..Input::from_bytes(rest) };
    let worlds = Worlds::shipped();
    let World { scope, .. } = worlds.world(worlds.key(&input));
    let world = World::new(Profile::reference(), scope);
    let events = events(&world, &input);
    let header = header(world.serving.config());
    let options = AuditOptions { lenient: false, keep: KEEP };
    let report = |events: &[Event]| {
        let text = written(&header, events);
        audit_trace("fuzz", text.as_bytes(), &options).map_err(|error| Crash(format!("refused: {error}")))
    };
    let clean = report(&events)?;
    if !clean.is_clean() {
        return Err(Crash(format!("a false alarm: {clean}")));
    }
    let frees: Vec<usize> =
        events.iter().enumerate().filter(|(_, event)| matches!(event, Event::Free { .. })).map(|(at, _)| at).collect();
    let Some(free) = (!frees.is_empty()).then(|| frees[at % frees.len()]) else { return Ok(()) };
    let mut spoilt = events;
    spoilt.insert(free + 1, spoilt[free].clone());
    // The header is line 1, the first event line 2.
    let line = free as u32 + 3;
    let found = report(&spoilt)?;
    let flagged = |found: &AuditReport| {
        found
            .findings
            .first()
            .is_some_and(|first| first.violation.kind == Kind::DoubleFree && first.violation.broke.0 == line)
    };
    if flagged(&found) { Ok(()) } else { Err(Crash(format!("a double free in line {line} is missed: {found}"))) }
}

/// The events of a walk; the drain's are not among them.
fn events(world: &World, input: &Input) -> Vec<Event> {
    let mut walker = Walker::new(&world.serving);
    let mut events = Vec::new();
    for op in &input.ops {
        let count = walker.enabled().len();
        if count > 0 {
            walker.choose(usize::from(op.pick) % count, |_, event| events.push(event.clone()));
        }
    }
    events
}

fn header(config: &Config) -> String {
    let arena = |arena, slots| ArenaDeclaration { arena, slots, width: config.width(arena), frees_recorded: true };
    let scope = &config.scope;
    let node = |node: Node, pages: u32| NodeDeclaration {
        node,
        name: String::new(),
        role: String::new(),
        arenas: vec![arena(Arena::KvPage, pages), arena(Arena::MetadataRow, scope.metadata_rows)],
    };
    let prefill = (0..scope.prefill_ranks).map(|rank| node(prefill_node(rank), scope.prefill_pages));
    let decode = (0..scope.decode_ranks).map(|rank| node(decode_node(rank), scope.decode_pages));
    serde_json::to_string(&Header::new(prefill.chain(decode).collect())).expect("a header is JSON")
}

fn written(header: &str, events: &[Event]) -> String {
    let line =
        |event: &Event| serde_json::to_string(&Record::new(event, &Context::default())).expect("a record is JSON");
    events.iter().fold(header.to_owned(), |text, event| text + "\n" + &line(event)) + "\n"
}
