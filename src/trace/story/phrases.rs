//! An event of a trace in words.

use super::Known;
use super::record::Kept;
use crate::lifetime::{Cells, Event, Verdict};
use crate::number::count;
use crate::report::objects::Object;
use crate::report::{Lane, TimelineStep};

/// The step that the events of one line are.
pub(super) fn step(known: &Known, line: &[&Kept]) -> TimelineStep {
    let (lane, actor) = line.first().map_or((Lane::Client, String::new()), |kept| actor(known, kept));
    let mut texts: Vec<String> = Vec::new();
    for text in line.iter().map(|kept| text(known, kept)) {
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    let mut step = TimelineStep::new(lane, actor, texts.join("; "));
    step.number = line.first().map_or(0, |kept| usize::try_from(kept.line).unwrap_or(usize::MAX));
    step.events = line.iter().map(|kept| kept.event.clone()).collect();
    step
}

/// Who acts, and in which lane: where the event was recorded, or where the slots are that it names.
fn actor(known: &Known, kept: &Kept) -> (Lane, String) {
    let owner = match &kept.event {
        Event::Begin { .. } | Event::Finish { .. } => return (Lane::Client, "client".to_owned()),
        Event::Land { op, .. } | Event::Settle { op } => return (Lane::Fabric, format!("access {}", op.0)),
        Event::Alloc { slots, .. } | Event::Free { slots, .. } => Some(slots.place.node),
        Event::Write { cells, .. } | Event::Read { cells, .. } => Some(cells.place.node),
        Event::Post { source, .. } => source.as_ref().map(|cells| cells.place.node),
        Event::Crash { node, .. } => Some(*node),
        Event::Decide { .. } => None,
    };
    // A post without a source says only where it goes.
    let unknown = if matches!(kept.event, Event::Post { .. }) { Lane::Prefill } else { Lane::Client };
    let Some(node) = kept.node.or(owner) else { return (unknown, String::new()) };
    let thread = kept.thread.as_ref().map_or_else(String::new, |thread| format!(", {thread}"));
    (known.lane(node), format!("{}{thread}", known.name(node)))
}

fn text(known: &Known, kept: &Kept) -> String {
    let object = |cells: &Cells| Object::of_cells(known, cells);
    let total = |cells: &Cells| count(cells.runs.iter().map(|run| u64::from(run.len)).sum(), "cell");
    let whose = kept.life.map_or_else(|| "an access".to_owned(), |life| life.to_string());
    match &kept.event {
        Event::Begin { life } => format!("{life} begins"),
        Event::Alloc { life, slots } => format!("gives {} to {life}", Object::from(slots).text()),
        Event::Free { life, slots } => format!("frees {}", Object::from(slots).owned(*life)),
        Event::Write { life, cells } => format!("writes {} of {}", total(cells), object(cells).owned(*life)),
        Event::Read { life, cells } => format!("{life} reads {} of {}", total(cells), object(cells).text()),
        Event::Post { life, source, target, .. } => match (source, target) {
            (Some(from), Some(to)) => {
                format!("posts a transfer of {life}: {} to {}", object(from).placed(known), object(to).placed(known))
            }
            (Some(from), None) => format!("posts a read of {life}: from {}", object(from).placed(known)),
            (None, Some(to)) => format!("posts a write of {life}: into {}", object(to).placed(known)),
            (None, None) => format!("posts an access of {life}"),
        },
        Event::Land { part, .. } => format!("{} of {whose} arrive", count(part.len.into(), "cell")),
        Event::Settle { .. } => format!("{whose}'s access is over"),
        Event::Decide { life, rank, verdict, .. } => format!("rank {rank} decides: {life} {}", ends(*verdict)),
        Event::Finish { life, told, .. } => format!("{life} {}", ends(told.verdict)),
        Event::Crash { life, .. } => format!("dies of its own assertion while it works for {life}"),
    }
}

const fn ends(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Success => "succeeds",
        Verdict::Rejected => "is rejected",
        Verdict::Aborted => "is aborted",
        Verdict::Failed => "fails",
    }
}
