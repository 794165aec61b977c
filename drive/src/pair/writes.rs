//! Posted writes, by the names that scripts have for them: the lowest that no write has, as in the cell's fabric.

use pagefence::cell::Scope;
use pagefence::lifetime::{Arena, Event, OpId, Span};

/// What the initiator was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    Nothing,
    Done,
    Failed,
    TimedOut,
}

#[derive(Clone, Debug)]
struct Write {
    name: u32,
    /// The engine's own number.
    engine: u32,
    /// How many pages or rows.
    items: u32,
    /// In how many pieces it lands.
    slices: u32,
    landed: u8,
    settled: bool,
    told: Told,
    /// Whether the initiator has heard it.
    heard: bool,
}

impl Write {
    fn over(&self) -> bool {
        self.settled && self.heard
    }
}

/// A piece that lands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Landing {
    /// The engine's number of the write.
    pub engine: u32,
    /// Which of its pages or rows.
    pub items: Span,
    /// Whether it is the last piece.
    pub last: bool,
}

/// Every write that is not over.
#[derive(Debug)]
pub struct Writes {
    writes: Vec<Write>,
    slices: u32,
    page_size: u32,
}

/// What a transfer engine returns for a write that is done.
pub const DONE: i32 = 0;
const FAILED: i32 = -1;

impl Writes {
    /// No writes yet.
    #[must_use]
    pub fn new(scope: &Scope) -> Self {
        Self { writes: Vec::new(), slices: u32::from(scope.slices), page_size: scope.page_size }
    }

    /// The event with the name of its write in place of the engine's number. A post gives the name.
    pub fn renamed(&mut self, event: Event) -> Event {
        match event {
            Event::Post { op, life, source, target } => {
                let cells: u32 = source.iter().flat_map(|cells| &cells.runs).map(|run| run.len).sum();
                let pages = source.as_ref().is_some_and(|cells| cells.place.arena == Arena::KvPage);
                let items = if pages { cells / self.page_size } else { cells };
                let slices = if pages { self.slices.min(items) } else { 1 };
                Event::Post { op: self.post(op.0, items, slices), life, source, target }
            }
            Event::Land { op, part } => Event::Land { op: self.name(op), part },
            Event::Settle { op } => {
                let name = self.name(op);
                self.settle(op.0);
                Event::Settle { op: name }
            }
            other => other,
        }
    }

    /// A piece of the write `name` arrives; nothing if there is no such piece to come.
    pub fn land(&mut self, name: u8, piece: u8) -> Option<Landing> {
        let write = self.get(name)?;
        let at = u32::from(piece);
        if write.settled || at >= write.slices || write.landed & (1 << piece) != 0 {
            return None;
        }
        write.landed |= 1 << piece;
        let edge = |piece: u32| write.items * piece / write.slices;
        let items = Span::new(edge(at), edge(at + 1) - edge(at));
        let last = write.landed.count_ones() == write.slices;
        if last && write.told == Told::Nothing {
            write.told = Told::Done;
        }
        Some(Landing { engine: write.engine, items, last })
    }

    /// The write `name` ends in an error: nothing more of it arrives. Returns the engine's number.
    pub fn fail(&mut self, name: u8) -> Option<u32> {
        let write = self.get(name).filter(|write| !write.settled)?;
        write.told = Told::Failed;
        Some(write.engine)
    }

    /// The initiator of the write `name` is told of a timeout, and the write goes on.
    pub fn time_out(&mut self, name: u8) {
        if let Some(write) = self.get(name).filter(|write| write.told == Told::Nothing) {
            write.told = Told::TimedOut;
        }
    }

    /// The write whose end its initiator hears next, and what it hears.
    pub fn report(&mut self) -> Option<(u32, i32)> {
        let write = self.writes.iter_mut().find(|write| write.told != Told::Nothing && !write.heard)?;
        write.heard = true;
        let report = (write.engine, if write.told == Told::Done { DONE } else { FAILED });
        self.writes.retain(|write| !write.over());
        Some(report)
    }

    /// Whether an initiator waits.
    #[must_use]
    pub fn awaited(&self) -> bool {
        self.writes.iter().any(|write| !write.heard)
    }

    fn post(&mut self, engine: u32, items: u32, slices: u32) -> OpId {
        let taken = |name: &u32| self.writes.iter().any(|write| write.name == *name);
        let name = (0..).find(|name| !taken(name)).unwrap_or_default();
        let told = Told::Nothing;
        self.writes.push(Write { name, engine, items, slices, landed: 0, settled: false, told, heard: false });
        OpId(name)
    }

    fn get(&mut self, name: u8) -> Option<&mut Write> {
        self.writes.iter_mut().find(|write| write.name == u32::from(name))
    }

    fn name(&self, engine: OpId) -> OpId {
        self.writes.iter().find(|write| write.engine == engine.0).map_or(engine, |write| OpId(write.name))
    }

    fn settle(&mut self, engine: u32) {
        for write in self.writes.iter_mut().filter(|write| write.engine == engine) {
            write.settled = true;
        }
        self.writes.retain(|write| !write.over());
    }
}
