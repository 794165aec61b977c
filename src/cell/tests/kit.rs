//! A cell that is stepped by hand, and short words for what is said about it.

use crate::cell::{
    Chunk, Client, Config, DecodeRequest, DecodeShared, DecodeStage, Lane, Leg, Poll, PrefillRequest, PrefillShared,
    PrefillStage, Probe, Profile, RoomKey, RowContent, Scope, Site, Step, Switch, Switches, Transfer,
};
use crate::explore::{Protocol, Serving, ServingState, Walker};
use crate::lifetime::{Answer, Arena, Cells, Event, Kind, Place, Slots, Spans, Verdict};
use crate::platform::{Local, Shared};
use std::ops::ControlFlow;

/// Decode rank 0 to prefill rank 0.
pub(super) const TO_PREFILL: Step = Step::Deliver(Lane::ToPrefill { from: 0, to: 0 });
/// Prefill rank 0 to decode rank 0.
pub(super) const TO_DECODE: Step = Step::Deliver(Lane::ToDecode { from: 0, to: 0 });
/// Metadata from prefill rank 0 to decode rank 0.
pub(super) const AUX: Step = Step::Deliver(Lane::Aux { from: 0, to: 0 });
/// The worker of prefill rank 0.
pub(super) const WORKER: Step = Step::Worker(0);

/// The first piece of a write.
pub(super) const fn land(op: u8) -> Step {
    Step::Land { op, piece: 0 }
}

/// A scope of one page size, small pools and one request of four tokens, changed by `more`: lines of TOML.
pub(super) fn scope(more: &str) -> Scope {
    let keys: Vec<&str> = more.lines().filter_map(|line| line.split('=').next()).map(str::trim).collect();
    let base = [
        ("name", "'test'"),
        ("page_size", "2"),
        ("prefill_pages", "4"),
        ("decode_pages", "5"),
        ("requests", "[{ prompt = 4, max_new = 2 }]"),
    ];
    let kept = base.iter().filter(|(key, _)| !keys.contains(key));
    let text = kept.fold(more.to_owned(), |text, (key, value)| format!("{text}\n{key} = {value}"));
    let scope: Scope = toml::from_str(&text).unwrap();
    scope.validate().unwrap();
    scope
}

/// The switches of a shipped profile.
pub(super) fn preset(name: &str) -> Switches {
    Profile::preset(name).unwrap().switches
}

/// 0.5.23.
pub(super) fn newest() -> Switches {
    preset("sglang-0.5.23")
}

/// 0.5.11.
pub(super) fn oldest() -> Switches {
    preset("sglang-0.5.11")
}

/// The strictest design.
pub(super) fn reference() -> Switches {
    Profile::reference().switches
}

/// Hears nothing.
pub(super) struct Deaf;

impl Probe for Deaf {
    fn emit(&mut self, _: Site, _: &Event) {}
}

/// A cell and what has been heard from it.
pub(super) struct Bench {
    pub(super) serving: Serving,
    pub(super) state: ServingState,
    /// The events of the last call of [`take`](Self::take).
    pub(super) heard: Vec<(Site, Event)>,
    /// What has been violated so far.
    pub(super) found: Vec<Kind>,
    script: Vec<Step>,
}

impl Bench {
    pub(super) fn new(switches: Switches, scope: Scope) -> Self {
        let serving = Serving::new(Config { switches, scope });
        let state = serving.initial();
        Self { serving, state, heard: Vec::new(), found: Vec::new(), script: Vec::new() }
    }

    /// Takes steps, each of which must be enabled. A worker that takes a chunk looks at its room at once.
    #[track_caller]
    pub(super) fn take(&mut self, steps: impl IntoIterator<Item = Step>) -> &mut Self {
        self.heard.clear();
        for step in steps {
            let idle = |bench: &Self, rank: u8| bench.state.cell.workers[usize::from(rank)].chunk().is_none();
            let was_idle = matches!(step, Step::Worker(rank) if idle(self, rank));
            self.take_as_they_are([step]);
            // Where a worker looks at the room of what it has taken, that is a step of its own.
            let looks = self.serving.config().on(Switch::WorkerChecksRoom);
            if looks && matches!(step, Step::Worker(rank) if was_idle && !idle(self, rank)) {
                self.take_as_they_are([step]);
            }
        }
        self
    }

    /// Takes steps, each of which must be enabled, and no others.
    #[track_caller]
    pub(super) fn take_as_they_are(&mut self, steps: impl IntoIterator<Item = Step>) -> &mut Self {
        for step in steps {
            let mut violations = Vec::new();
            let heard = &mut self.heard;
            let taken = self.serving.apply_heard(&mut self.state, step, &mut violations, |site, event| {
                heard.push((site, event.clone()));
            });
            assert!(taken, "{step} is not enabled");
            self.script.push(step);
            self.found.extend(violations.iter().map(|violation| violation.kind));
        }
        self
    }

    pub(super) fn enabled(&self, step: Step) -> bool {
        let mut steps = Vec::new();
        self.serving.steps(&self.state, &mut steps);
        steps.contains(&step)
    }

    /// Takes progress and timers until nothing moves; returns what is violated on the way and at rest. Only for a bench
    /// whose state was not touched by hand: the script is run again.
    pub(super) fn drain(&mut self) -> Vec<Kind> {
        let mut walker = Walker::new(&self.serving);
        for step in &self.script {
            walker.take(step);
        }
        assert!(*walker.state() == self.state, "the state was touched by hand");
        let mut found = Vec::new();
        let drained = walker.drain(10_000, |moment| {
            found.extend(moment.violations().iter().map(|violation| violation.kind));
            ControlFlow::Continue(())
        });
        assert!(!drained.livelock);
        let end = walker.state().clone();
        self.state = end;
        found
    }

    pub(super) fn key(&self, request: u8) -> RoomKey {
        self.serving.config().key(request)
    }

    pub(super) fn prefill_rank(&self, rank: usize) -> &PrefillShared<Local> {
        &self.state.cell.world.prefill[rank]
    }

    pub(super) fn decode_rank(&self, rank: usize) -> &DecodeShared<Local> {
        &self.state.cell.world.decode[rank]
    }

    /// The room's status at prefill rank 0.
    pub(super) fn prefill_room(&self, request: u8) -> Option<Poll> {
        self.prefill_rank(0).status(self.key(request))
    }

    /// The room's status at decode rank 0.
    pub(super) fn decode_room(&self, request: u8) -> Option<Poll> {
        self.decode_rank(0).status(self.key(request))
    }

    pub(super) fn at_prefill(&self, request: u8) -> Option<&PrefillRequest> {
        self.state.cell.prefill.requests().iter().find(|entry| entry.request == request)
    }

    pub(super) fn at_decode(&self, request: u8) -> Option<&DecodeRequest> {
        self.state.cell.decode.requests().iter().find(|entry| entry.request == request)
    }

    pub(super) fn prefill_stage(&self, request: u8) -> Option<PrefillStage> {
        self.at_prefill(request).map(|entry| entry.stage)
    }

    pub(super) fn decode_stage(&self, request: u8) -> Option<DecodeStage> {
        self.at_decode(request).map(|entry| entry.stage)
    }

    /// The pages that a request has at decode rank `rank`, as first page and length of each run.
    pub(super) fn decode_pages(&self, request: u8, rank: usize) -> Option<Vec<(u32, u32)>> {
        self.at_decode(request)?.ranks[rank].pages.as_ref().map(runs)
    }

    /// The metadata row `index` of decode rank 0.
    pub(super) fn decode_row(&self, index: usize) -> RowContent {
        self.decode_rank(0).rows.with(|rows| rows[index])
    }

    /// Whether the client waits.
    pub(super) fn client(&self, request: u8) -> Client {
        self.state.cell.world.balancer.with(|balancer| balancer.pair(request).client)
    }

    /// What clients were told in the last call of [`take`](Self::take).
    pub(super) fn answers(&self) -> Vec<(u32, Verdict)> {
        let answer = |(_, event): &(Site, Event)| match event {
            Event::Finish { life, told: Answer { verdict, .. }, .. } => Some((life.request, *verdict)),
            _ => None,
        };
        self.heard.iter().filter_map(answer).collect()
    }

    /// Where the events of the last call came from, repeats left out.
    pub(super) fn sites(&self) -> Vec<Site> {
        let mut sites: Vec<Site> = self.heard.iter().map(|(site, _)| *site).collect();
        sites.dedup();
        sites
    }

    /// The counter of chunks in the workers' hands, rank 0.
    pub(super) fn outstanding(&self, request: u8) -> i8 {
        self.prefill_rank(0).outstanding_of(self.key(request))
    }

    /// Whether an acknowledgement target is registered at prefill rank 0.
    pub(super) fn has_target(&self, request: u8) -> bool {
        self.prefill_rank(0).targets.with(|targets| targets.get(self.key(request)).is_some())
    }

    /// Whether the room is poisoned at prefill rank 0.
    pub(super) fn poisoned(&self, request: u8) -> bool {
        self.prefill_rank(0).poisoned.with(|poisoned| poisoned.get(self.key(request)).is_some())
    }

    /// How many acknowledgements count at decode rank 0.
    pub(super) fn acks(&self, request: u8) -> usize {
        self.decode_rank(0).acks(self.key(request), self.serving.config())
    }

    /// The events of the last call of [`take`](Self::take), a line each.
    pub(super) fn lines(&self) -> Vec<String> {
        self.heard.iter().map(|(site, event)| format!("{}: {}", site.name(), words(event))).collect()
    }

    /// The chunks that wait for the worker of prefill rank `rank`: offset in pages, tokens, end, and whether it is the
    /// last one.
    pub(super) fn chunks(&self, rank: usize) -> Vec<(u32, u32, u32, bool)> {
        let chunk = |chunk: &Chunk| (chunk.offset, chunk.tokens, chunk.end, chunk.row.is_some());
        self.prefill_rank(rank).queue.with(|queue| queue.iter().map(chunk).collect())
    }

    /// The posted writes: name, target pages, cells.
    pub(super) fn writes(&self) -> Vec<(u32, Runs, u32)> {
        let write = |write: &Transfer| (write.op.0, runs(&write.target), write.cells);
        self.state.cell.world.fabric.with(|fabric| fabric.iter().map(write).collect())
    }

    /// A request's prefill and decode leg at the balancer.
    pub(super) fn legs(&self, request: u8) -> (Leg, Leg) {
        self.state.cell.world.balancer.with(|balancer| {
            let pair = balancer.pair(request);
            (pair.prefill, pair.decode)
        })
    }
}

/// First slot and length of each run.
type Runs = Vec<(u32, u32)>;

fn runs(slots: &Slots) -> Runs {
    slots.runs.iter().map(|run| (run.start, run.len)).collect()
}

/// `p0 page 0..2`: the runs of a place.
fn spot(place: Place, runs: &Spans) -> String {
    let node = place.node.0;
    let node = if node >= 16 { format!("d{}", node - 16) } else { format!("p{node}") };
    let arena = if place.arena == Arena::KvPage { "page" } else { "row" };
    let runs: Vec<String> = runs.iter().map(|run| format!("{}..{}", run.start, run.end())).collect();
    format!("{node} {arena} {}", runs.join(","))
}

fn words(event: &Event) -> String {
    let cells = |cells: &Cells| spot(cells.place, &cells.runs);
    let side = |side: &Option<Cells>| side.as_ref().map_or("nowhere".to_owned(), cells);
    match event {
        Event::Begin { life } => format!("{life} begins"),
        Event::Alloc { life, slots } => format!("{life} gets {}", spot(slots.place, &slots.runs)),
        Event::Free { life, slots } => format!("{life} frees {}", spot(slots.place, &slots.runs)),
        Event::Write { life, cells: written } => format!("{life} writes {}", cells(written)),
        Event::Read { life, cells: read } => format!("{life} reads {}", cells(read)),
        Event::Post { op, life, source, target } => {
            format!("{life} posts {} from {} to {}", op.0, side(source), side(target))
        }
        Event::Land { op, part } => format!("{} lands {}..{}", op.0, part.start, part.end()),
        Event::Settle { op } => format!("{} settles", op.0),
        Event::Decide { life, group, rank, verdict } => format!("{life} {verdict:?} by rank {rank} of {group}"),
        Event::Finish { life, told, .. } => format!("{life} is told {:?}, {} tokens", told.verdict, told.prompt_tokens),
        Event::Crash { node, life } => format!("node {} crashes over {life}", node.0),
    }
}

/// `switches` without one of them.
pub(super) fn without(switches: Switches, switch: Switch) -> Switches {
    assert!(switches.on(switch), "{switch} is off already");
    switches.with(switch, false)
}

/// `switches` and one more.
pub(super) fn plus(switches: Switches, switch: Switch) -> Switches {
    assert!(!switches.on(switch), "{switch} is on already");
    switches.with(switch, true)
}

/// Sends request `n` (the next one) to both servers, until decode has told prefill where its pages are: the room is
/// open on both sides.
pub(super) const HANDSHAKE: [Step; 4] = [Step::Submit, Step::Prefill, Step::Decode, TO_PREFILL];
