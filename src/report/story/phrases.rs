//! A step in words.

use super::beat::{Beat, Move};
use super::messages::{Letter, verdict_name};
use crate::cell::{Config, Lane as Wire, Payload, Site, Step, Told, Transfer, is_decode};
use crate::lifetime::{Arena, Event, Life, Slots};
use crate::number::count;
use crate::report::objects::Object;
use crate::report::timeline::{Lane, TimelineStep, WatchedSlot};

/// At most so much is said of one step; a tick of a scheduler may do a dozen things.
const SAID: usize = 4;

/// A phrase, how much it matters, and where it is from.
struct Phrase {
    text: String,
    weight: u8,
    reference: Option<&'static str>,
}

/// The step of a timeline that a beat is.
pub(super) fn step(config: &Config, beat: &Beat, watched: &[WatchedSlot]) -> TimelineStep {
    let Some(step) = beat.step else { return rest(beat) };
    let (lane, actor) = actor(config, step);
    let own = own_phrase(config, beat, step);
    let mut phrases: Vec<Phrase> = own.into_iter().collect();
    let told_itself = matches!(step, Step::Submit | Step::Abort(_) | Step::Disconnect(_) | Step::Land { .. });
    phrases.extend(sites(config, beat, watched).into_iter().filter(|phrase| !told_itself || phrase.weight >= 3));
    phrases.extend(beat.sent.iter().map(|(_, letter)| Phrase {
        text: format!("sends {}", letter.name(config)),
        weight: 2,
        reference: Some(letter.reference()),
    }));
    phrases.extend(beat.moves.iter().map(|moved| Phrase { text: moved_text(*moved), weight: 1, reference: None }));
    // The first of those that matter most.
    let reference = phrases.iter().rev().filter(|p| p.reference.is_some()).max_by_key(|p| p.weight.min(4));
    let reference = reference.and_then(|phrase| phrase.reference);
    let said = TimelineStep::new(lane, actor, text(phrases, step));
    let mut said = match toward(beat, step) {
        Some(lane) => said.to(lane),
        None => said,
    };
    said.protocol = reference.map(short);
    said.fault = step.is_fault();
    said.events = beat.heard.iter().map(|(_, event)| event.clone()).collect();
    said
}

/// The phrases that matter most, in the order in which they happened.
fn text(phrases: Vec<Phrase>, step: Step) -> String {
    if phrases.is_empty() {
        // A worker without events has counted a chunk that it has not looked at yet, or skipped one.
        let idle = if matches!(step, Step::Worker(_)) {
            "takes what is queued or looks at what is reported"
        } else {
            "polls its queues"
        };
        return idle.to_owned();
    }
    let cut = phrases.len() > SAID;
    let mut best: Vec<(usize, Phrase)> = phrases.into_iter().enumerate().collect();
    best.sort_by_key(|(_, phrase)| std::cmp::Reverse(phrase.weight));
    best.truncate(SAID);
    best.sort_by_key(|(at, _)| *at);
    let text = best.into_iter().map(|(_, phrase)| phrase.text).collect::<Vec<_>>().join("; ");
    if cut { format!("{text}; …") } else { text }
}

/// Who acts, and in which lane.
fn actor(config: &Config, step: Step) -> (Lane, String) {
    let decode = |rank: u8| if config.scope.decode_ranks > 1 { format!("decode {rank}") } else { "decode".to_owned() };
    let prefill =
        |rank: u8| if config.scope.prefill_ranks > 1 { format!("prefill {rank}") } else { "prefill".to_owned() };
    match step {
        Step::Submit | Step::Abort(_) | Step::Disconnect(_) => (Lane::Client, "client".to_owned()),
        Step::Prefill | Step::KillPrefill | Step::ReplacePrefill => (Lane::Prefill, "prefill".to_owned()),
        Step::ForwardEnds => (Lane::Prefill, "prefill's GPU".to_owned()),
        Step::Worker(rank) => (Lane::Prefill, format!("worker {rank}")),
        Step::Decode => (Lane::Decode, "decode".to_owned()),
        Step::Heartbeat => (Lane::Decode, "heartbeat".to_owned()),
        Step::Deliver(Wire::ToPrefill { from, to }) => (Lane::Decode, format!("{} to {}", decode(from), prefill(to))),
        Step::Deliver(Wire::ToDecode { from, to } | Wire::Aux { from, to }) => {
            (Lane::Prefill, format!("{} to {}", prefill(from), decode(to)))
        }
        Step::Lose(_) => (Lane::Fabric, "network".to_owned()),
        Step::Land { op, .. } | Step::TransferError(op) | Step::TransferTimeout(op) => {
            (Lane::Fabric, format!("write {op}"))
        }
        Step::Elapse => (Lane::Client, "clock".to_owned()),
    }
}

/// Whom the step reaches.
fn toward(beat: &Beat, step: Step) -> Option<Lane> {
    let wire = |wire: &Wire| if matches!(wire, Wire::ToPrefill { .. }) { Lane::Prefill } else { Lane::Decode };
    match step {
        Step::Submit => Some(Lane::Prefill),
        Step::Abort(_) | Step::Disconnect(_) => Some(Lane::Decode),
        Step::Deliver(lane) => Some(wire(&lane)),
        Step::TransferError(_) | Step::TransferTimeout(_) => Some(Lane::Prefill),
        Step::Prefill | Step::Decode => {
            let answers = beat.heard.iter().any(|(site, _)| *site == Site::Answer);
            answers.then_some(Lane::Client).or_else(|| beat.sent.first().map(|(lane, _)| wire(lane)))
        }
        _ => None,
    }
}

/// What the step itself says, before any event.
fn own_phrase(config: &Config, beat: &Beat, step: Step) -> Option<Phrase> {
    let life = |request: u8| Life::first(u32::from(request));
    let letter = || beat.letter.map_or_else(|| "a message".to_owned(), |letter| letter.name(config));
    let write = || beat.write.as_ref().map_or_else(|| "the write".to_owned(), |write| write_name(config, write));
    let (text, reference) = match step {
        Step::Submit => (submitted(config, beat)?, Some(Site::Submit.reference())),
        Step::Abort(request) => {
            (format!("aborts {} on both servers", life(request)), Some(Site::ClientAbort.reference()))
        }
        Step::Disconnect(request) => {
            (format!("leaves; {} is nobody's any more", life(request)), Some(Site::ClientDisconnect.reference()))
        }
        Step::Deliver(_) => (format!("{} arrives", letter()), beat.letter.map(Letter::reference)),
        Step::Lose(_) => (format!("{} is lost", letter()), beat.letter.map(Letter::reference)),
        Step::Land { piece, .. } => (landed(config, beat, piece)?, Some(Site::Land.reference())),
        Step::TransferError(_) => (format!("{} fails; its siblings go on", write()), Some(Site::Land.reference())),
        Step::TransferTimeout(_) => {
            (format!("prefill is told that {} timed out; it goes on", write()), Some(Site::Land.reference()))
        }
        Step::KillPrefill => ("dies; its memory and its writes are gone".to_owned(), Some("3.4")),
        Step::ReplacePrefill => ("starts anew in the place of the dead process".to_owned(), Some("3.4")),
        Step::Heartbeat => ("finds prefill gone".to_owned(), Some("3.4")),
        Step::Elapse => ("a unit of time passes on every running timer".to_owned(), None),
        Step::Prefill | Step::ForwardEnds | Step::Worker(_) | Step::Decode => return None,
    };
    Some(Phrase { text, weight: 4, reference })
}

fn submitted(config: &Config, beat: &Beat) -> Option<String> {
    let life = beat.heard.iter().find_map(|(_, event)| match event {
        Event::Begin { life } => Some(*life),
        _ => None,
    })?;
    let spec = config.scope.requests.get(life.request as usize)?;
    let tokens = |n: u32| count(n.into(), "token");
    let refused = spec.rejected.map_or_else(String::new, |rejection| {
        let by = match (rejection.legs.prefill(), rejection.legs.decode()) {
            (true, true) => "both servers",
            (false, true) => "decode",
            _ => "prefill",
        };
        format!(", which {by} will refuse ({})", rejection.by)
    });
    Some(format!("sends {life}: a prompt of {}, {} to generate{refused}", tokens(spec.prompt), spec.max_new))
}

/// `A's write into decode pages 1-2`.
fn write_name(config: &Config, write: &Transfer) -> String {
    let what = if write.payload == Payload::Kv { "write" } else { "metadata write" };
    format!("{}'s {what} into {}", Life::first(u32::from(write.request)), Object::from(&write.target).placed(config))
}

/// `2 tokens of A land in decode page 1, the last`.
fn landed(config: &Config, beat: &Beat, piece: u8) -> Option<String> {
    let write = beat.write.as_ref()?;
    let life = Life::first(u32::from(write.request));
    let width = config.width(write.target.place.arena);
    let part = write.piece(piece, width);
    let target = config.cells(&write.target, part.start + part.len);
    let before = config.cells(&write.target, part.start);
    let hit = Object::of_cells(config, &beyond(target, &before));
    let what = match write.payload {
        Payload::Aux => "the metadata".to_owned(),
        Payload::Kv => count(part.len.into(), "token"),
    };
    let verb = if what.ends_with('s') { "land" } else { "lands" };
    let late = if write.told == Told::Nothing { "" } else { ", after prefill has given up on them" };
    let last = beat.heard.iter().any(|(_, event)| matches!(event, Event::Settle { .. }));
    let last = if last { "; the write is over" } else { "" };
    Some(format!("{what} of {life} {verb} in {}{late}{last}", hit.placed(config)))
}

/// The cells of `all` that come after those of `first`, which are its beginning.
fn beyond(mut all: crate::lifetime::Cells, first: &crate::lifetime::Cells) -> crate::lifetime::Cells {
    let mut skip: u32 = first.runs.iter().map(|run| run.len).sum();
    for run in &mut all.runs {
        let here = skip.min(run.len);
        run.start += here;
        run.len -= here;
        skip -= here;
    }
    all
}

/// What the events say: one phrase for each protocol step, its objects in brackets.
fn sites(config: &Config, beat: &Beat, watched: &[WatchedSlot]) -> Vec<Phrase> {
    let mut order: Vec<Site> = Vec::new();
    for (site, _) in &beat.heard {
        if !order.contains(site) && !matches!(site, Site::Submit | Site::ClientAbort | Site::ClientDisconnect) {
            order.push(*site);
        }
    }
    order.into_iter().map(|site| site_phrase(config, beat, watched, site)).collect()
}

fn site_phrase(config: &Config, beat: &Beat, watched: &[WatchedSlot], site: Site) -> Phrase {
    let events: Vec<&Event> = beat.heard.iter().filter(|(known, _)| *known == site).map(|(_, event)| event).collect();
    let reads = events.iter().any(|event| matches!(event, Event::Read { .. }));
    let mut objects: Vec<String> = Vec::new();
    let mut weight = 1;
    for event in events {
        // A decode step writes where it reads.
        if reads && matches!(event, Event::Write { .. }) {
            continue;
        }
        weight = weight.max(weigh(config, event, watched));
        if let Some(object) = object(config, event).filter(|object| !objects.contains(object)) {
            objects.push(object);
        }
    }
    let text = if site == Site::Answer { "answers" } else { without_actor(site.text()) };
    let text = if objects.is_empty() { text.to_owned() } else { format!("{text} ({})", objects.join(", ")) };
    Phrase { text, weight, reference: Some(site.reference()) }
}

/// The text of a site without the actor, which stands before it.
fn without_actor(text: &'static str) -> &'static str {
    ["prefill's workers have drained; it ", "prefill ", "decode ", "a worker "]
        .iter()
        .find_map(|actor| text.strip_prefix(actor))
        .unwrap_or(text)
}

/// How much an event matters to somebody who follows the watched slots.
fn weigh(config: &Config, event: &Event, watched: &[WatchedSlot]) -> u8 {
    let hits = |object: &Object| {
        watched.iter().any(|slot| {
            slot.place == object.place
                && object.runs.iter().any(|run| run.start <= slot.index && slot.index < run.end())
        })
    };
    let of_slots = |slots: &Slots| (hits(&slots.into()), slots.place.arena == Arena::KvPage);
    let (watched, pages) = match event {
        Event::Begin { .. } | Event::Finish { .. } | Event::Crash { .. } => return 5,
        Event::Alloc { slots, .. } | Event::Free { slots, .. } => of_slots(slots),
        Event::Write { cells, .. } | Event::Read { cells, .. } => (hits(&Object::of_cells(config, cells)), true),
        Event::Post { source, target, .. } => {
            let ends = [source, target].into_iter().flatten();
            (ends.clone().any(|cells| hits(&Object::of_cells(config, cells))), true)
        }
        Event::Decide { .. } => (false, true),
        Event::Land { .. } | Event::Settle { .. } => (false, false),
    };
    match (watched, pages) {
        (true, _) => 4,
        (false, true) => 2,
        (false, false) => 1,
    }
}

/// What an event is about, in brackets.
fn object(config: &Config, event: &Event) -> Option<String> {
    let rank = |place| {
        let ranks = if is_decode(place) { config.scope.decode_ranks } else { config.scope.prefill_ranks };
        let number = super::places::rank(crate::cell::place(place, Arena::KvPage));
        if ranks > 1 { format!(" of rank {number}") } else { String::new() }
    };
    match event {
        Event::Alloc { life, slots } | Event::Free { life, slots } => {
            Some(format!("{}{}", Object::from(slots).owned(*life), rank(slots.place.node)))
        }
        Event::Write { life, cells } | Event::Read { life, cells } => {
            Some(format!("{}{}", Object::of_cells(config, cells).owned(*life), rank(cells.place.node)))
        }
        Event::Post { life, source, target, .. } => {
            let end = |cells: &Option<_>| cells.as_ref().map(|cells| Object::of_cells(config, cells));
            match (end(source), end(target)) {
                (Some(from), Some(to)) => Some(format!("{life}: {} to {}", from.placed(config), to.placed(config))),
                (None, Some(to)) => Some(format!("{life}, to {}", to.placed(config))),
                (Some(from), None) => Some(format!("{life}, from {}", from.placed(config))),
                (None, None) => Some(life.to_string()),
            }
        }
        Event::Finish { life, told, .. } => Some(match told.tokens_of {
            Some(other) if other != *life => format!("{life}: {}, with {other}'s tokens", verdict_name(told.verdict)),
            _ => format!("{life}: {}", verdict_name(told.verdict)),
        }),
        Event::Decide { life, verdict, .. } => Some(format!("{life}: {}", verdict_name(*verdict))),
        Event::Begin { life } | Event::Crash { life, .. } => Some(life.to_string()),
        Event::Land { .. } | Event::Settle { .. } => None,
    }
}

fn moved_text(moved: Move) -> String {
    let life = Life::first(u32::from(moved.request));
    match (moved.from, moved.to) {
        (None, Some(to)) => format!("{life} enters the {to}"),
        (Some(from), None) => format!("{life} leaves the {from}"),
        (Some(from), Some(to)) => format!("{life} moves from the {from} to the {to}"),
        (None, None) => life.to_string(),
    }
}

/// `D13, section 10` is `D13` in a narrow column.
fn short(reference: &str) -> String {
    let first = reference.split(',').next().unwrap_or(reference);
    first.rsplit(' ').next().unwrap_or(first).to_owned()
}

/// The state was judged.
fn rest(beat: &Beat) -> TimelineStep {
    debug_assert!(beat.is_rest());
    let place = beat.violations.iter().find_map(|violation| violation.place);
    let lane = match place {
        Some(place) if is_decode(place.node) => Lane::Decode,
        Some(_) => Lane::Prefill,
        None => Lane::Client,
    };
    let last = beat.violations.iter().any(|violation| violation.broke == Site::Final.into());
    let text = if last { Site::Final.text() } else { Site::Quiet.text() };
    TimelineStep::new(lane, "", text).because("13")
}
