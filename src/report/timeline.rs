//! The neutral data model of a report: what happened, step by step, and what it did to the slots that race.
//!
//! A replayer builds a [`Timeline`]; the terminal, HTML and Mermaid renderers read it. Nothing here knows the cell.
//!
//! ```
//! use pagefence::lifetime::{Arena, Cells, Event, Kind, Life, Node, OpId, Place, Slots, Span};
//! use pagefence::report::{Lane, MarkedViolation, Timeline, TimelineStep, WatchedSlot};
//!
//! let (a, place) = (Life::first(0), Place { node: Node(1), arena: Arena::KvPage });
//! let page = || Slots { place, runs: [Span::new(0, 1)].into_iter().collect() };
//! let cells = Cells { place, runs: [Span::new(0, 4)].into_iter().collect() };
//!
//! let mut timeline = Timeline::new("A page is freed under a live write");
//! timeline.subtitle.push("profile v0.5.11, seed 7".into());
//! timeline.watched.push(WatchedSlot::new("decode page 0", Lane::Decode, place, 0, 4));
//! timeline.push(TimelineStep::new(Lane::Decode, "rank 0", "reserve A's page 0").because("D3")
//!     .told(Event::Alloc { life: a, slots: page() }));
//! let post = timeline.push(TimelineStep::new(Lane::Prefill, "worker 0", "post A's write")
//!     .told(Event::Post { op: OpId(0), life: a, source: None, target: Some(cells) }));
//! let free = timeline.push(TimelineStep::new(Lane::Decode, "rank 0", "release A's page 0 at once").because("D12")
//!     .told(Event::Free { life: a, slots: page() }));
//! timeline.violations.push(MarkedViolation {
//!     kind: Kind::FreeInFlight,
//!     headline: "page 0 is freed while the write of A is live".into(),
//!     watched: vec![0],
//!     started: Some(post),
//!     released: None,
//!     broke: free,
//! });
//! timeline.fill_slots(); // derives what each step left in the watched slots from the events
//! assert_eq!(timeline.steps[1].slots[0].in_flight.len(), 1);
//! ```

use crate::lifetime::{Event, Kind, Life, OpId, Place, Severity};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Who acts: the columns of a timeline, left to right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Lane {
    /// Clients, the balancer, the operator: whatever is outside the engines.
    Client,
    /// Prefill schedulers, transfer workers, bootstrap listeners.
    Prefill,
    /// The network: landings, settlements, losses.
    Fabric,
    /// Decode schedulers, listeners, heartbeats.
    Decode,
}

impl Lane {
    /// Every lane, left to right.
    pub const ALL: [Self; 4] = [Self::Client, Self::Prefill, Self::Fabric, Self::Decode];

    /// The column of this lane, from zero.
    #[must_use]
    pub const fn column(self) -> usize {
        self as usize
    }

    /// The lane's heading.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Prefill => "prefill",
            Self::Fabric => "fabric",
            Self::Decode => "decode",
        }
    }
}

/// One run, told as a story about a few slots.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timeline {
    /// One line: what this is.
    pub title: String,
    /// Facts about the run, one each: profile, scope, seed.
    pub subtitle: Vec<String>,
    /// What happened, in order. Step numbers ascend.
    pub steps: Vec<TimelineStep>,
    /// The slots that race: at most a handful, since each is a column.
    pub watched: Vec<WatchedSlot>,
    /// What broke. Empty for a clean run.
    pub violations: Vec<MarkedViolation>,
    /// Which of them this is about, as an index; the others happened on the way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<usize>,
    /// The command that reproduces the run.
    pub reproduce: Option<String>,
    /// The script of the run, as text.
    pub script: Option<String>,
}

/// One step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimelineStep {
    /// Its number; [`Timeline::push`] counts from 1 when this is 0.
    pub number: usize,
    /// Who acts.
    pub lane: Lane,
    /// Whom it reaches, where it is a message; drawn as an arrow. Absent, posts point at the fabric and landings at
    /// the lane of the slot they hit.
    pub toward: Option<Lane>,
    /// Which actor of the lane: `rank 0`, `worker 0`.
    pub actor: String,
    /// What it does, without the actor: `release A's pages 1-2 at once`.
    pub text: String,
    /// The section of the protocol that has this step: `D12`.
    pub protocol: Option<String>,
    /// Injected by the schedule instead of done by the engine: a loss, a crash, an abort.
    pub fault: bool,
    /// Each watched slot after the step, in the order of [`Timeline::watched`]. See [`Timeline::fill_slots`].
    pub slots: Vec<SlotState>,
    /// What the oracle was told in this step.
    pub events: Vec<Event>,
}

/// A slot that a timeline shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatchedSlot {
    /// What to call it: `page 2`, `decode page 2`.
    pub label: String,
    /// The lane of the process that owns the memory.
    pub lane: Lane,
    /// Where it is.
    pub place: Place,
    /// Which slot of `place`.
    pub index: u32,
    /// How many cells it has: the tokens of a page; 1 elsewhere.
    pub cells: u32,
}

/// A watched slot at one moment. The default is a free slot that was never written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlotState {
    /// Who owns it; nobody when it is free.
    pub owner: Option<Life>,
    /// Whose content its cells hold, in the order of the cells, equal neighbours joined; absent life: never written.
    pub content: Vec<Portion>,
    /// The accesses that are live on it, oldest first.
    pub in_flight: Vec<InFlight>,
}

/// A run of cells with content of one life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Portion {
    /// Who wrote it; nobody when it was never written.
    pub life: Option<Life>,
    /// How many cells.
    pub cells: u32,
}

/// Which way the bytes of an access move, seen from the slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// Bytes leave the slot.
    Read,
    /// Bytes arrive in the slot.
    Write,
}

/// A live access to a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InFlight {
    /// Which access.
    pub op: OpId,
    /// For which life.
    pub life: Life,
    /// Which way its bytes move.
    pub direction: Direction,
}

/// One violation and the steps that race in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MarkedViolation {
    /// What is wrong.
    pub kind: Kind,
    /// One sentence in words: `the late write of A lands in page 2, which B owns`.
    pub headline: String,
    /// Which watched slots it concerns, as indices.
    pub watched: Vec<usize>,
    /// The number of the step that started it.
    pub started: Option<usize>,
    /// The number of the step that took the slot away.
    pub released: Option<usize>,
    /// The number of the step in which it broke.
    pub broke: usize,
}

/// What a step is to a violation. The order is that of importance: a step that is several shows the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// It started the access that races.
    Started,
    /// It took the slot away under the access.
    Released,
    /// It made the rule break.
    Broke,
}

impl Timeline {
    /// An empty timeline.
    #[must_use]
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }

    /// Appends a step and returns its number, which is one more than the last one's unless the step brings its own.
    pub fn push(&mut self, mut step: TimelineStep) -> usize {
        if step.number == 0 {
            step.number = self.steps.last().map_or(1, |last| last.number + 1);
        }
        let number = step.number;
        self.steps.push(step);
        number
    }

    /// The worst violation: the highest severity, and among those the first to break.
    #[must_use]
    pub fn worst(&self) -> Option<&MarkedViolation> {
        self.violations.iter().min_by_key(|v| (std::cmp::Reverse(v.severity()), v.broke))
    }

    /// The violation that the timeline is about: the subject where it has one, otherwise the worst.
    #[must_use]
    pub fn subject(&self) -> Option<&MarkedViolation> {
        self.subject.and_then(|at| self.violations.get(at)).or_else(|| self.worst())
    }

    /// What the step with this number is to each violation, as (index of the violation, role).
    pub fn roles(&self, number: usize) -> impl Iterator<Item = (usize, Role)> + '_ {
        self.violations.iter().enumerate().flat_map(move |(i, v)| v.roles(number).map(move |role| (i, role)))
    }

    /// What the step with this number is to the worst violation it has a part in, and that violation's severity.
    ///
    /// The step that takes a slot away also breaks the lesser rule against freeing in flight; it shows as the former,
    /// so that the story reads started, taken away, broke.
    #[must_use]
    pub fn role(&self, number: usize) -> Option<(Role, Severity)> {
        let parts = self.roles(number).map(|(i, role)| (self.violations[i].severity(), role));
        parts.max().map(|(severity, role)| (role, severity))
    }

    /// The state after step `at` (an index into `steps`) of watched slot `slot`; free when the step doesn't say.
    #[must_use]
    pub fn slot(&self, at: usize, slot: usize) -> SlotState {
        self.steps.get(at).and_then(|s| s.slots.get(slot)).cloned().unwrap_or_default()
    }
}

impl TimelineStep {
    /// A step that is numbered when it is pushed.
    #[must_use]
    pub fn new(lane: Lane, actor: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            number: 0,
            lane,
            toward: None,
            actor: actor.into(),
            text: text.into(),
            protocol: None,
            fault: false,
            slots: Vec::new(),
            events: Vec::new(),
        }
    }

    /// Names the section of the protocol.
    #[must_use]
    pub fn because(mut self, protocol: impl Into<String>) -> Self {
        self.protocol = Some(protocol.into());
        self
    }

    /// Makes it a message to `lane`.
    #[must_use]
    pub const fn to(mut self, lane: Lane) -> Self {
        self.toward = Some(lane);
        self
    }

    /// Says that the schedule injected it.
    #[must_use]
    pub const fn faulty(mut self) -> Self {
        self.fault = true;
        self
    }

    /// Adds what the oracle was told.
    #[must_use]
    pub fn told(mut self, event: Event) -> Self {
        self.events.push(event);
        self
    }
}

impl WatchedSlot {
    /// Slot `index` of `place`, with `cells` cells.
    #[must_use]
    pub fn new(label: impl Into<String>, lane: Lane, place: Place, index: u32, cells: u32) -> Self {
        Self { label: label.into(), lane, place, index, cells }
    }
}

impl MarkedViolation {
    /// How bad it is.
    #[must_use]
    pub const fn severity(&self) -> Severity {
        self.kind.severity()
    }

    /// What the step with this number is to it.
    pub fn roles(&self, number: usize) -> impl Iterator<Item = Role> + use<> {
        let started = (self.started == Some(number)).then_some(Role::Started);
        let released = (self.released == Some(number)).then_some(Role::Released);
        let broke = (self.broke == number).then_some(Role::Broke);
        [started, released, broke].into_iter().flatten()
    }
}

impl SlotState {
    /// The content in words: `A 4/4`, `B 2 A 2`, or nothing when the slot was never written.
    #[must_use]
    pub fn content_text(&self) -> String {
        let total: u32 = self.content.iter().map(|p| p.cells).sum();
        let mut written = self.content.iter().filter_map(|p| p.life.map(|life| (life, p.cells)));
        match (written.next(), written.next()) {
            (None, _) => String::new(),
            (Some((life, cells)), None) => format!("{life} {cells}/{total}"),
            _ => {
                let parts = self.content.iter().map(|p| match p.life {
                    Some(life) => format!("{life} {}", p.cells),
                    None => format!("- {}", p.cells),
                });
                parts.collect::<Vec<_>>().join(" ")
            }
        }
    }

    /// Whether somebody is at work here for a life that doesn't own the slot.
    #[must_use]
    pub fn foreign_in_flight(&self) -> bool {
        self.in_flight.iter().any(|f| Some(f.life) != self.owner)
    }

    /// Whether an owned slot holds content of another life.
    #[must_use]
    pub fn foreign_content(&self) -> bool {
        self.owner.is_some() && self.content.iter().any(|p| p.life.is_some() && p.life != self.owner)
    }
}

impl fmt::Display for InFlight {
    /// `w:A#0`: direction, life, operation.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let direction = match self.direction {
            Direction::Read => 'r',
            Direction::Write => 'w',
        };
        write!(f, "{direction}:{}#{}", self.life, self.op.0)
    }
}
