//! The fabric: posted writes that land piece by piece, in any order, possibly after a reported failure.

use super::room::RoomKey;
use crate::few::{Few, clone_by_field};
use crate::lifetime::{OpId, Slots, Span};

/// What a write carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Payload {
    /// KV pages.
    Kv,
    /// The metadata row.
    Aux,
}

/// What the initiator was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Told {
    /// Nothing yet.
    Nothing,
    /// Completed.
    Completed,
    /// Failed: the write itself is over.
    Failed,
    /// Timed out: the write goes on.
    TimedOut,
}

/// One posted write.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Transfer {
    /// Its name.
    pub op: OpId,
    /// The room that it works for.
    pub key: RoomKey,
    /// The request that it works for.
    pub request: u8,
    /// The prefill rank that posted it.
    pub from: u8,
    /// The decode rank that it writes to.
    pub to: u8,
    /// What it carries.
    pub payload: Payload,
    /// Where the bytes come from.
    pub source: Slots,
    /// Where they go.
    pub target: Slots,
    /// How many cells.
    pub cells: u32,
    /// In how many pieces it lands.
    pub slices: u8,
    /// Which have landed, as a bit set.
    pub landed: u8,
    /// Which a network card has begun to land, where cards are threads; as a bit set.
    pub landing: u8,
    /// What the initiator was told.
    pub told: Told,
    /// Whether the initiator has stopped looking at it.
    pub abandoned: bool,
    /// How often the transport has tried before.
    pub attempt: u8,
}

clone_by_field!(Transfer {
    op,
    key,
    request,
    from,
    to,
    payload,
    source,
    target,
    cells,
    slices,
    landed,
    landing,
    told,
    abandoned,
    attempt
});

impl Transfer {
    /// Whether every piece has landed.
    #[must_use]
    pub const fn complete(&self) -> bool {
        self.landed.count_ones() == self.slices as u32
    }

    /// Whether no network card has begun to land `piece`, nor landed it.
    #[must_use]
    pub const fn untouched(&self, piece: u8) -> bool {
        (self.landing | self.landed) & (1 << piece) == 0
    }

    /// Whether bytes may still arrive.
    #[must_use]
    pub fn live(&self) -> bool {
        self.told != Told::Failed && !self.complete()
    }

    /// Whether its initiator still waits for it.
    #[must_use]
    pub fn untold(&self) -> bool {
        self.told == Told::Nothing && self.live()
    }

    /// How many pages (or rows) it writes.
    #[must_use]
    pub fn pages(&self) -> u32 {
        super::pool::count(&self.target)
    }

    /// The cells of piece `slice`, counted along the write: whole slots, as even as they come.
    #[must_use]
    pub fn piece(&self, slice: u8, slot_width: u32) -> Span {
        let (pages, slices) = (self.pages(), u32::from(self.slices));
        let edge = |piece: u32| (pages * piece / slices * slot_width).min(self.cells);
        let start = edge(u32::from(slice));
        Span::new(start, edge(u32::from(slice) + 1) - start)
    }
}

/// Every write that is not yet forgotten.
#[derive(Debug, Default, PartialEq, Eq, Hash)]
pub struct Fabric {
    transfers: Few<Transfer, 2>,
}

clone_by_field!(Fabric { transfers });

impl Fabric {
    /// The lowest name that no write has, so that equal worlds are equal values.
    #[must_use]
    pub fn next_op(&self) -> OpId {
        let mut next = 0;
        for transfer in &self.transfers {
            if transfer.op.0 != next {
                break;
            }
            next += 1;
        }
        OpId(next)
    }

    /// Adds a write.
    pub fn post(&mut self, transfer: Transfer) {
        let at = self.transfers.partition_point(|other| other.op < transfer.op);
        self.transfers.insert(at, transfer);
    }

    /// The write called `op`.
    #[must_use]
    pub fn get(&self, op: OpId) -> Option<&Transfer> {
        self.transfers.iter().find(|transfer| transfer.op == op)
    }

    /// The write called `op`, to change.
    pub fn get_mut(&mut self, op: OpId) -> Option<&mut Transfer> {
        self.transfers.iter_mut().find(|transfer| transfer.op == op)
    }

    /// Every write, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Transfer> {
        self.transfers.iter()
    }

    /// The initiator stops looking at `op`. A write that is over is forgotten; one that goes on stays.
    pub fn abandon(&mut self, op: OpId) {
        if let Some(transfer) = self.get_mut(op) {
            transfer.abandoned = true;
        }
        self.forget(op);
    }

    /// Forgets `op` if it is over and nobody looks at it.
    pub fn forget(&mut self, op: OpId) {
        self.transfers.retain(|transfer| transfer.op != op || transfer.live() || !transfer.abandoned);
    }

    /// Whether a write of `from` for `key` may still put bytes somewhere.
    #[must_use]
    pub fn unsettled(&self, from: u8, key: RoomKey) -> bool {
        self.transfers.iter().any(|transfer| transfer.from == from && transfer.key == key && transfer.live())
    }

    /// Takes every write out: the initiator has died.
    pub fn take_all(&mut self) -> impl Iterator<Item = Transfer> + use<> {
        std::mem::take(&mut self.transfers).into_iter()
    }
}
