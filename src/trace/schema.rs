//! The trace schema, version 1: a header line, then one flat JSON object a line. `docs/trace-schema.md` is its
//! description for people who write exporters.
//!
//! The record is one flat struct with an event name and optional fields, not a tagged enum: serde buffers the whole
//! content of an internally tagged enum before it looks at the tag, which costs several times what the line does.

mod codes;
mod fast;

use super::error::Problem;
use crate::lifetime::{Answer, Arena, Cells, Event, Life, Node, OpId, Place, Slots, Span, Spans, Verdict};
use codes::{LifeCode, SpanCode};
pub use codes::{Runs, Text};
use serde::{Deserialize, Serialize};

/// The `schema` of the header line.
pub const NAME: &str = "pagefence-trace";
/// The `version` of the header line that this build reads and writes.
pub const VERSION: u64 = 1;

/// The first line of a trace: what exists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// [`NAME`].
    pub schema: String,
    /// [`VERSION`].
    pub version: u64,
    /// Every process that owns memory.
    pub nodes: Vec<NodeDeclaration>,
}

/// One process and its arenas.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeDeclaration {
    /// The number that records use.
    pub node: Node,
    /// The name that reports use, `decode-0`.
    #[serde(default)]
    pub name: String,
    /// What it does, `prefill` or `decode`; only shown.
    #[serde(default)]
    pub role: String,
    /// The slots it owns.
    #[serde(default)]
    pub arenas: Vec<ArenaDeclaration>,
}

/// The slots of one kind on one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArenaDeclaration {
    /// What kind of slot.
    pub arena: Arena,
    /// How many slots: indices are `0 .. slots`.
    pub slots: u32,
    /// How many cells a slot has: tokens of a page, 1 for a row.
    pub width: u32,
    /// Whether the recorder sees these slots being freed. If it does not, a slot that is owned at the end of the trace
    /// says nothing, and the report doesn't list it as held.
    #[serde(default = "yes")]
    pub frees_recorded: bool,
}

fn yes() -> bool {
    true
}

impl Header {
    /// A header of the current version.
    #[must_use]
    pub fn new(nodes: Vec<NodeDeclaration>) -> Self {
        Self { schema: NAME.to_owned(), version: VERSION, nodes }
    }

    /// Refuses what contradicts itself or would reserve an absurd amount of memory.
    pub(super) fn check(&self) -> Result<(), Problem> {
        if self.schema != NAME {
            return Err(Problem::UnknownSchema { found: self.schema.clone() });
        }
        if self.version != VERSION {
            return Err(Problem::UnknownVersion { found: self.version });
        }
        for (index, node) in self.nodes.iter().enumerate() {
            if self.nodes[..index].iter().any(|earlier| earlier.node == node.node) {
                return Err(Problem::BadHeader(format!("node {} is declared twice", node.node.0)));
            }
            for (index, arena) in node.arenas.iter().enumerate() {
                if node.arenas[..index].iter().any(|earlier| earlier.arena == arena.arena) {
                    let name = arena.arena;
                    return Err(Problem::BadHeader(format!("node {} declares its {name}s twice", node.node.0)));
                }
                if arena.slots == 0 || arena.width == 0 {
                    let name = arena.arena;
                    return Err(Problem::BadHeader(format!("node {} declares no {name}s at all", node.node.0)));
                }
                // Cells are counted in 32 bits everywhere.
                let cells = u64::from(arena.slots) * u64::from(arena.width);
                if cells > u64::from(u32::MAX) {
                    let name = arena.arena;
                    return Err(Problem::BadHeader(format!("the {name}s of node {} have {cells} cells", node.node.0)));
                }
            }
        }
        Ok(())
    }
}

/// The name of an event, the `event` field of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventName {
    /// [`Event::Begin`].
    Begin,
    /// [`Event::Alloc`].
    Alloc,
    /// [`Event::Free`].
    Free,
    /// [`Event::Write`].
    Write,
    /// [`Event::Post`].
    Post,
    /// [`Event::Land`].
    Land,
    /// [`Event::Settle`].
    Settle,
    /// [`Event::Read`].
    Read,
    /// [`Event::Decide`].
    Decide,
    /// [`Event::Finish`].
    Finish,
    /// [`Event::Crash`].
    Crash,
}

impl EventName {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Begin => "begin",
            Self::Alloc => "alloc",
            Self::Free => "free",
            Self::Write => "write",
            Self::Post => "post",
            Self::Land => "land",
            Self::Settle => "settle",
            Self::Read => "read",
            Self::Decide => "decide",
            Self::Finish => "finish",
            Self::Crash => "crash",
        }
    }
}

/// Runs of one arena of one node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Area {
    /// The process that owns the memory.
    node: Node,
    /// The kind of slot.
    arena: Arena,
    /// `[[start, len], …]`, in order.
    runs: Runs,
}

impl Area {
    fn new(place: Place, runs: &Spans) -> Self {
        Self { node: place.node, arena: place.arena, runs: Runs(runs.clone()) }
    }

    fn place(&self) -> Place {
        Place { node: self.node, arena: self.arena }
    }

    fn slots(self) -> Slots {
        Slots { place: self.place(), runs: self.runs.0 }
    }

    fn cells(self) -> Cells {
        Cells { place: self.place(), runs: self.runs.0 }
    }
}

/// What a record tells beside its event. All of it is optional, and none of it changes the verdict.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Context<'a> {
    /// Where it was recorded.
    pub node: Option<Node>,
    /// Which thread of that process.
    pub thread: Option<&'a str>,
    /// The engine's own name of the request.
    pub request: Option<&'a str>,
    /// Seconds on a clock that all nodes share.
    pub clock: Option<f64>,
}

/// One line behind the header.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record<'a> {
    event: EventName,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    life: Option<LifeCode>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    slots: Option<Area>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cells: Option<Area>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    source: Option<Area>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    target: Option<Area>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    op: Option<OpId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    part: Option<SpanCode>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    group: Option<u8>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rank: Option<u8>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    verdict: Option<Verdict>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    prompt_tokens: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tokens_of: Option<LifeCode>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    processed: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    node: Option<Node>,
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    thread: Option<Text<'a>>,
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    request: Option<Text<'a>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    clock: Option<f64>,
}

impl<'a> Record<'a> {
    /// Reads a line.
    ///
    /// # Errors
    ///
    /// If the line is not JSON, or not of this shape.
    pub fn parse(line: &'a str) -> Result<Self, serde_json::Error> {
        match fast::record(line) {
            Some(record) => Ok(record),
            None => serde_json::from_str(line),
        }
    }

    /// The record of an event.
    #[must_use]
    pub fn new(event: &Event, context: &Context<'a>) -> Self {
        let mut record = Self::empty(event, context);
        match event {
            Event::Begin { .. } => {}
            Event::Alloc { slots, .. } | Event::Free { slots, .. } => {
                record.slots = Some(Area::new(slots.place, &slots.runs));
            }
            Event::Write { cells, .. } | Event::Read { cells, .. } => {
                record.cells = Some(Area::new(cells.place, &cells.runs));
            }
            Event::Post { source, target, .. } => {
                record.source = source.as_ref().map(|cells| Area::new(cells.place, &cells.runs));
                record.target = target.as_ref().map(|cells| Area::new(cells.place, &cells.runs));
            }
            Event::Land { part, .. } => record.part = Some(SpanCode(*part)),
            Event::Settle { .. } => {}
            Event::Decide { group, rank, verdict, .. } => {
                record.group = Some(*group);
                record.rank = Some(*rank);
                record.verdict = Some(*verdict);
            }
            Event::Finish { told, processed, .. } => {
                record.verdict = Some(told.verdict);
                record.prompt_tokens = Some(told.prompt_tokens);
                record.tokens_of = told.tokens_of.map(LifeCode);
                record.processed = *processed;
            }
            Event::Crash { node, .. } => record.node = Some(*node),
        }
        record
    }

    fn empty(event: &Event, context: &Context<'a>) -> Self {
        let name = match event {
            Event::Begin { .. } => EventName::Begin,
            Event::Alloc { .. } => EventName::Alloc,
            Event::Free { .. } => EventName::Free,
            Event::Write { .. } => EventName::Write,
            Event::Post { .. } => EventName::Post,
            Event::Land { .. } => EventName::Land,
            Event::Settle { .. } => EventName::Settle,
            Event::Read { .. } => EventName::Read,
            Event::Decide { .. } => EventName::Decide,
            Event::Finish { .. } => EventName::Finish,
            Event::Crash { .. } => EventName::Crash,
        };
        Self {
            life: event.life().map(LifeCode),
            op: event.op(),
            node: context.node,
            thread: context.thread.map(Text::from),
            request: context.request.map(Text::from),
            clock: context.clock,
            ..Self::bare(name)
        }
    }

    /// A record of which nothing but the event's name is known.
    const fn bare(event: EventName) -> Self {
        Self {
            event,
            life: None,
            slots: None,
            cells: None,
            source: None,
            target: None,
            op: None,
            part: None,
            group: None,
            rank: None,
            verdict: None,
            prompt_tokens: None,
            tokens_of: None,
            processed: None,
            node: None,
            thread: None,
            request: None,
            clock: None,
        }
    }

    /// The context of this record.
    #[must_use]
    pub fn context(&self) -> Context<'_> {
        Context {
            node: self.node,
            thread: self.thread.as_ref().map(Text::as_str),
            request: self.request.as_ref().map(Text::as_str),
            clock: self.clock,
        }
    }

    /// The event of this record. Fields that the event doesn't use are ignored.
    ///
    /// # Errors
    ///
    /// [`Problem::MissingField`] if the event needs a field that is not there.
    pub fn take_event(&mut self) -> Result<Event, Problem> {
        let event = self.event.as_str();
        let missing = |field| Problem::MissingField { event, field };
        let life = self.life.map(|code| code.0);
        let need_life = life.ok_or(missing("life"));
        Ok(match self.event {
            EventName::Begin => Event::Begin { life: need_life? },
            EventName::Alloc => {
                Event::Alloc { life: need_life?, slots: self.slots.take().ok_or(missing("slots"))?.slots() }
            }
            EventName::Free => {
                Event::Free { life: need_life?, slots: self.slots.take().ok_or(missing("slots"))?.slots() }
            }
            EventName::Write => {
                Event::Write { life: need_life?, cells: self.cells.take().ok_or(missing("cells"))?.cells() }
            }
            EventName::Read => {
                Event::Read { life: need_life?, cells: self.cells.take().ok_or(missing("cells"))?.cells() }
            }
            EventName::Post => Event::Post {
                op: self.op.ok_or(missing("op"))?,
                life: need_life?,
                source: self.source.take().map(Area::cells),
                target: self.target.take().map(Area::cells),
            },
            EventName::Land => Event::Land {
                op: self.op.ok_or(missing("op"))?,
                part: self.part.map(|code| code.0).ok_or(missing("part"))?,
            },
            EventName::Settle => Event::Settle { op: self.op.ok_or(missing("op"))? },
            EventName::Decide => Event::Decide {
                life: need_life?,
                group: self.group.ok_or(missing("group"))?,
                rank: self.rank.ok_or(missing("rank"))?,
                verdict: self.verdict.ok_or(missing("verdict"))?,
            },
            EventName::Finish => Event::Finish {
                life: need_life?,
                told: Answer {
                    verdict: self.verdict.ok_or(missing("verdict"))?,
                    prompt_tokens: self.prompt_tokens.ok_or(missing("prompt_tokens"))?,
                    tokens_of: self.tokens_of.map(|code| code.0),
                },
                processed: self.processed,
            },
            EventName::Crash => Event::Crash { node: self.node.ok_or(missing("node"))?, life: need_life? },
        })
    }
}
