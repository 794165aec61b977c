//! What the actors share, and what they are given to take a step.

use super::balancer::Balancer;
use super::decode::DecodeShared;
use super::fabric::{Fabric, Transfer};
use super::message::{AuxData, Http, Queue, RowContent, ToDecode, ToPrefill};
use super::prefill::PrefillShared;
use super::room::RoomKey;
use super::scope::Scope;
use super::site::Site;
use super::switch::{Switch, Switches};
use crate::few::{Few, clone_by_field};
use crate::lifetime::{Arena, Cells, Event, Life, Node, Oracle, Place, Slots, Span, Spans, Verdict};
use crate::platform::{Memory, Platform, Shared, State};
use derive_where::derive_where;

/// What does not change in a run: the profile's switches, the scope, and what follows from both.
#[derive(Clone, Debug)]
pub struct Config {
    /// What is on.
    pub switches: Switches,
    /// The size of the world.
    pub scope: Scope,
}

impl Config {
    /// Whether `switch` is on.
    #[must_use]
    pub const fn on(&self, switch: Switch) -> bool {
        self.switches.on(switch)
    }

    /// The room key of a request.
    #[must_use]
    pub fn key(&self, request: u8) -> RoomKey {
        RoomKey::new(self.scope.room(usize::from(request)), request, self.switches)
    }

    /// The life of a request. No request of a scope is tried twice, so every generation is the first.
    #[must_use]
    pub const fn life(request: u8) -> Life {
        Life::first(request as u32)
    }

    /// An oracle that knows every place that the cell allocates from.
    #[must_use]
    pub fn oracle(&self) -> Oracle {
        let scope = &self.scope;
        let prefill = (0..scope.prefill_ranks).map(|rank| (prefill_node(rank), scope.prefill_pages));
        let decode = (0..scope.decode_ranks).map(|rank| (decode_node(rank), scope.decode_pages));
        let mut oracle = Oracle::default();
        for (node, pages) in prefill.chain(decode) {
            oracle.declare(place(node, Arena::KvPage), pages, scope.page_size);
            oracle.declare(place(node, Arena::MetadataRow), scope.metadata_rows, 1);
        }
        oracle
    }

    /// How many cells a slot of `arena` has.
    #[must_use]
    pub fn width(&self, arena: Arena) -> u32 {
        if arena == Arena::KvPage { self.scope.page_size } else { 1 }
    }

    /// The first `cells` cells of `slots`.
    #[must_use]
    pub fn cells(&self, slots: &Slots, cells: u32) -> Cells {
        let width = self.width(slots.place.arena);
        let mut runs = Spans::new();
        let mut missing = cells;
        for run in &slots.runs {
            if missing == 0 {
                break;
            }
            let here = (run.len * width).min(missing);
            super::pool::push_back(&mut runs, Span::new(run.start * width, here));
            missing -= here;
        }
        Cells { place: slots.place, runs }
    }
}

/// The node of a prefill rank.
#[must_use]
pub const fn prefill_node(rank: u8) -> Node {
    Node(rank)
}

/// The node of a decode rank. Prefill and decode nodes are told apart by [`is_decode`].
#[must_use]
pub const fn decode_node(rank: u8) -> Node {
    Node(16 + rank)
}

/// Whether a node is a decode rank's.
#[must_use]
pub const fn is_decode(node: Node) -> bool {
    node.0 >= 16
}

/// A place on a node.
#[must_use]
pub const fn place(node: Node, arena: Arena) -> Place {
    Place { node, arena }
}

/// A lane of the control network. Each is first in, first out, and delivers at most once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lane {
    /// Decode rank to prefill rank: handshakes and aborts.
    ToPrefill {
        /// The decode rank.
        from: u8,
        /// The prefill rank.
        to: u8,
    },
    /// Prefill rank to decode rank: statuses and acknowledgements.
    ToDecode {
        /// The prefill rank.
        from: u8,
        /// The decode rank.
        to: u8,
    },
    /// Prefill rank to decode rank: metadata, on a socket of its own.
    Aux {
        /// The prefill rank.
        from: u8,
        /// The decode rank.
        to: u8,
    },
}

/// The channels.
#[derive_where(Debug, PartialEq, Eq, Hash)]
pub struct Net<P: Platform> {
    /// To the prefill scheduler, over HTTP.
    pub prefill_http: P::Cell<Queue<Http>>,
    /// To the decode scheduler, over HTTP.
    pub decode_http: P::Cell<Queue<Http>>,
    to_prefill: Few<P::Cell<Queue<ToPrefill>>, 1>,
    to_decode: Few<P::Cell<Queue<ToDecode>>, 1>,
    aux: Few<P::Cell<Queue<AuxData>>, 1>,
}

clone_by_field!(Net <P: Platform> { prefill_http, decode_http, to_prefill, to_decode, aux });

/// Where the channel between prefill rank `prefill` and decode rank `decode` stands in its list.
const fn channel(prefill: u8, decode: u8, decode_ranks: u8) -> usize {
    (prefill * decode_ranks + decode) as usize
}

impl<P: Platform> Net<P> {
    fn new(scope: &Scope) -> Self {
        let pairs = usize::from(scope.prefill_ranks * scope.decode_ranks);
        Self {
            prefill_http: Shared::new(Queue::default()),
            decode_http: Shared::new(Queue::default()),
            to_prefill: (0..pairs).map(|_| Shared::new(Queue::default())).collect(),
            to_decode: (0..pairs).map(|_| Shared::new(Queue::default())).collect(),
            aux: (0..pairs).map(|_| Shared::new(Queue::default())).collect(),
        }
    }

    fn rehosted<Q: Platform>(&self) -> Net<Q> {
        Net {
            prefill_http: rehost::<_, _, Q>(&self.prefill_http),
            decode_http: rehost::<_, _, Q>(&self.decode_http),
            to_prefill: rehost_all::<_, _, Q>(&self.to_prefill),
            to_decode: rehost_all::<_, _, Q>(&self.to_decode),
            aux: rehost_all::<_, _, Q>(&self.aux),
        }
    }
}

/// The memory of one rank that devices reach.
#[derive_where(Debug, PartialEq, Eq, Hash)]
pub struct RankMemory<P: Platform> {
    pages: P::Memory,
    rows: P::Memory,
}

clone_by_field!(RankMemory <P: Platform> { pages, rows });

impl<P: Platform> RankMemory<P> {
    fn new(pages: u32, rows: u32) -> Self {
        Self { pages: Memory::new(pages), rows: Memory::new(rows) }
    }
}

/// Everything that more than one actor reaches.
#[derive_where(Debug, PartialEq, Eq, Hash)]
pub struct World<P: Platform> {
    /// One a prefill rank.
    pub prefill: Few<PrefillShared<P>, 1>,
    /// One a decode rank.
    pub decode: Few<DecodeShared<P>, 1>,
    /// The memory of the prefill ranks.
    prefill_memory: Few<RankMemory<P>, 1>,
    /// The memory of the decode ranks.
    decode_memory: Few<RankMemory<P>, 1>,
    /// The channels.
    pub net: Net<P>,
    /// Posted writes.
    pub fabric: P::Cell<Fabric>,
    /// The balancer and its clients.
    pub balancer: P::Cell<Balancer>,
    /// How often messages have been lost. The model's own memory: no engine knows.
    pub lost: P::Cell<u8>,
}

clone_by_field!(World <P: Platform> { prefill, decode, prefill_memory, decode_memory, net, fabric, balancer, lost });

fn prefill_memory<P: Platform>(scope: &Scope) -> Few<RankMemory<P>, 1> {
    (0..scope.prefill_ranks).map(|_| RankMemory::new(scope.prefill_pages, scope.metadata_rows)).collect()
}

fn decode_memory<P: Platform>(scope: &Scope) -> Few<RankMemory<P>, 1> {
    (0..scope.decode_ranks).map(|_| RankMemory::new(scope.decode_pages, scope.metadata_rows)).collect()
}

/// A cell with the same content on platform `Q`.
pub(super) fn rehost<T: State, C: Shared<T>, Q: Platform>(cell: &C) -> Q::Cell<T> {
    Shared::new(cell.with(|content| content.clone()))
}

/// Cells with the same contents on platform `Q`.
fn rehost_all<T: State, C: Shared<T>, Q: Platform>(cells: &[C]) -> Few<Q::Cell<T>, 1> {
    cells.iter().map(rehost::<T, C, Q>).collect()
}

impl<P: Platform> World<P> {
    /// A world in which nothing has happened.
    #[must_use]
    pub fn new(scope: &Scope) -> Self {
        Self {
            prefill: (0..scope.prefill_ranks).map(|_| PrefillShared::new(scope)).collect(),
            decode: (0..scope.decode_ranks).map(|_| DecodeShared::new(scope)).collect(),
            prefill_memory: prefill_memory(scope),
            decode_memory: decode_memory(scope),
            net: Net::new(scope),
            fabric: Shared::new(Fabric::default()),
            balancer: Shared::new(Balancer::new(scope)),
            lost: Shared::new(0),
        }
    }

    /// The same world on another platform. What watches the memory starts afresh.
    #[must_use]
    pub fn rehosted<Q: Platform>(&self, scope: &Scope) -> World<Q> {
        World {
            prefill: self.prefill.iter().map(PrefillShared::rehosted).collect(),
            decode: self.decode.iter().map(DecodeShared::rehosted).collect(),
            prefill_memory: prefill_memory(scope),
            decode_memory: decode_memory(scope),
            net: self.net.rehosted(),
            fabric: rehost::<_, _, Q>(&self.fabric),
            balancer: rehost::<_, _, Q>(&self.balancer),
            lost: rehost::<_, _, Q>(&self.lost),
        }
    }

    pub(super) fn memory(&self, place: Place) -> &P::Memory {
        let rank = if is_decode(place.node) {
            &self.decode_memory[usize::from(place.node.0 - decode_node(0).0)]
        } else {
            &self.prefill_memory[usize::from(place.node.0)]
        };
        if place.arena == Arena::KvPage { &rank.pages } else { &rank.rows }
    }

    fn channel(&self, prefill: u8, decode: u8) -> usize {
        channel(prefill, decode, self.decode.len() as u8)
    }

    /// The channel of control messages from decode rank `from` to prefill rank `to`.
    #[must_use]
    pub fn to_prefill(&self, from: u8, to: u8) -> &P::Cell<Queue<ToPrefill>> {
        &self.net.to_prefill[self.channel(to, from)]
    }

    /// The channel of control messages from prefill rank `from` to decode rank `to`.
    #[must_use]
    pub fn to_decode(&self, from: u8, to: u8) -> &P::Cell<Queue<ToDecode>> {
        &self.net.to_decode[self.channel(from, to)]
    }

    /// The metadata channel from prefill rank `from` to decode rank `to`.
    #[must_use]
    pub fn aux(&self, from: u8, to: u8) -> &P::Cell<Queue<AuxData>> {
        &self.net.aux[self.channel(from, to)]
    }

    /// How many messages wait on `lane`.
    pub fn waiting(&self, lane: Lane) -> usize {
        match lane {
            Lane::ToPrefill { from, to } => self.to_prefill(from, to).with(|queue| queue.len()),
            Lane::ToDecode { from, to } => self.to_decode(from, to).with(|queue| queue.len()),
            Lane::Aux { from, to } => self.aux(from, to).with(|queue| queue.len()),
        }
    }

    /// Writes a metadata row of decode rank `rank`.
    pub fn write_decode_row(&self, rank: u8, row: &Slots, content: RowContent) {
        self.decode[usize::from(rank)].rows.with(|rows| rows[row_index(row)] = content);
    }
}

/// The index of a single row.
///
/// # Panics
/// When `row` is empty.
#[must_use]
pub fn row_index(row: &Slots) -> usize {
    row.runs[0].start as usize
}

/// Who decides together: the groups that the oracle files decisions under.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Group {
    /// The prefill ranks.
    Prefill,
    /// The decode ranks.
    Decode,
    /// The clients, whose decisions are their own.
    Client,
    /// The decode ranks once more: what they reserve for. Ranks that reserve for different requests have come apart.
    Admission,
}

/// Hears what happens. The oracle is behind it, and where one is wanted, a log.
pub trait Probe {
    /// Told of `event`, which came from `site`.
    fn emit(&mut self, site: Site, event: &Event);
}

/// What an actor is given to take a step.
pub struct Ctx<'a, P: Platform, T: Probe> {
    /// What all share.
    pub world: &'a World<P>,
    /// What does not change.
    pub config: &'a Config,
    /// Who listens.
    pub probe: &'a mut T,
}

impl<P: Platform, T: Probe> Ctx<'_, P, T> {
    /// Whether `switch` is on.
    pub fn on(&self, switch: Switch) -> bool {
        self.config.on(switch)
    }

    /// Says that the first `ranks` ranks of `group` decide alike; the oracle hears each.
    pub fn decide(&mut self, group: Group, ranks: usize, request: u8, verdict: Verdict, site: Site) {
        for rank in 0..ranks as u8 {
            self.emit(site, Event::Decide { life: Config::life(request), group: group as u8, rank, verdict });
        }
    }

    /// Says what happened.
    #[allow(clippy::needless_pass_by_value, reason = "call sites read as sentences")]
    pub fn emit(&mut self, site: Site, event: Event) {
        self.probe.emit(site, &event);
        match &event {
            Event::Write { cells, .. } => self.touch(cells, P::Memory::write),
            Event::Read { cells, .. } => self.touch(cells, P::Memory::read),
            _ => {}
        }
    }

    /// Reaches the memory behind `cells`.
    #[inline]
    fn touch(&self, cells: &Cells, access: impl Fn(&P::Memory, Span)) {
        let width = self.config.width(cells.place.arena);
        let memory = self.world.memory(cells.place);
        for run in &cells.runs {
            let first = run.start / width;
            access(memory, Span::new(first, run.end().div_ceil(width) - first));
        }
    }

    /// A device moves `part` of a write's cells from their source to their target.
    pub fn copy(&self, write: &Transfer, part: Span) {
        for (slots, access) in
            [(&write.source, P::Memory::read as fn(&P::Memory, Span)), (&write.target, P::Memory::write)]
        {
            let all = self.config.cells(slots, write.cells);
            self.touch(&Cells { place: all.place, runs: super::pool::part(&all.runs, part.start, part.len) }, access);
        }
    }
}
