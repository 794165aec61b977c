//! What prefill's scheduler, workers and listener share. One cell each: the engine has no lock over any two of them
//! (protocol section 4), so a method here that touches two cells is not atomic on threads.

use crate::cell::message::{Queue, RowContent, ToDecode, TransferInfo};
use crate::cell::room::{self, Poll, RoomKey, RoomTable, Table};
use crate::cell::scope::Scope;
use crate::cell::switch::Switch;
use crate::cell::world::{Config, Ctx, Probe, rehost};
use crate::few::{Few, clone_by_field};
use crate::lifetime::{Slots, Verdict};
use crate::platform::{Lock, Platform, Shared};
use derive_where::derive_where;

/// A `TransferKVChunk`: pages that are ready to be sent.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Chunk {
    /// The room.
    pub key: RoomKey,
    /// The request, by which the oracle knows it; the engine's chunk knows only the room.
    pub request: u8,
    /// Source pages.
    pub pages: Slots,
    /// Where they start in the destination, in pages.
    pub offset: u32,
    /// How many tokens they hold.
    pub tokens: u32,
    /// Up to which token the request is sent with this chunk.
    pub end: u32,
    /// For the last chunk, the metadata row to send behind the pages.
    pub row: Option<Slots>,
}

clone_by_field!(Chunk { key, request, pages, offset, tokens, end, row });

/// Acknowledgement targets of a room: decode rank and generation.
pub type Targets = Few<(u8, u8), 2>;

/// The shared state of one prefill rank.
#[derive_where(Debug, PartialEq, Eq, Hash)]
pub struct PrefillShared<P: Platform> {
    /// `request_status`.
    pub rooms: P::Cell<RoomTable>,
    /// `transfer_infos`: who wants a room's pages where.
    pub infos: P::Cell<Table<Few<TransferInfo, 1>>>,
    /// `_staging_outstanding`: chunks of a room that a worker has taken and not finished.
    pub outstanding: P::Cell<Table<i8>>,
    /// `_deferred_ack_targets`.
    pub targets: P::Cell<Table<Targets>>,
    /// `_deferred_ack_poisoned_rooms`.
    pub poisoned: P::Cell<Table<()>>,
    /// Why a room was refused, for the handshake that comes too late (`notify_peer` only).
    pub reasons: P::Cell<Table<Verdict>>,
    /// The transfer queue of the one shard that serves this decode server.
    pub queue: P::Cell<Queue<Chunk>>,
    /// The metadata rows' memory.
    pub rows: P::Cell<Few<RowContent, 2>>,
    /// How many tokens of each request the GPU has computed; only the overlapped loop reads it.
    pub computed: P::Cell<Few<u32, 2>>,
    /// What `locked_tables` holds while it works on the tables.
    lock: P::Lock,
}

clone_by_field!(PrefillShared <P: Platform> { rooms, infos, outstanding, targets, poisoned, reasons, queue, rows, computed, lock });

impl<P: Platform> PrefillShared<P> {
    /// The state of a process that has just started.
    #[must_use]
    pub fn new(scope: &Scope) -> Self {
        Self {
            rooms: Shared::new(RoomTable::default()),
            infos: Shared::new(Table::default()),
            outstanding: Shared::new(Table::default()),
            targets: Shared::new(Table::default()),
            poisoned: Shared::new(Table::default()),
            reasons: Shared::new(Table::default()),
            queue: Shared::new(Queue::default()),
            rows: Shared::new(Few::from_elem(RowContent::default(), scope.metadata_rows as usize)),
            computed: Shared::new(Few::from_elem(0, scope.requests.len())),
            lock: Lock::new(),
        }
    }

    /// The same state on another platform.
    pub(in crate::cell) fn rehosted<Q: Platform>(&self) -> PrefillShared<Q> {
        PrefillShared {
            rooms: rehost::<_, _, Q>(&self.rooms),
            infos: rehost::<_, _, Q>(&self.infos),
            outstanding: rehost::<_, _, Q>(&self.outstanding),
            targets: rehost::<_, _, Q>(&self.targets),
            poisoned: rehost::<_, _, Q>(&self.poisoned),
            reasons: rehost::<_, _, Q>(&self.reasons),
            queue: rehost::<_, _, Q>(&self.queue),
            rows: rehost::<_, _, Q>(&self.rows),
            computed: rehost::<_, _, Q>(&self.computed),
            lock: Lock::new(),
        }
    }

    /// Does something to the tables: in one go with `locked_tables`, access by access without. Not to be nested.
    pub fn in_one_go<R>(&self, config: &Config, act: impl FnOnce() -> R) -> R {
        if config.on(Switch::LockedTables) { self.lock.hold(act) } else { act() }
    }

    /// The status of `key`; `None` is the missing key that `check_status` raises on.
    pub fn status(&self, key: RoomKey) -> Option<Poll> {
        self.rooms.with(|rooms| rooms.get(key).copied())
    }

    /// Whether `add_transfer_request` queues a chunk of `key`.
    pub fn takes_chunks(&self, key: RoomKey) -> bool {
        !matches!(self.status(key), None | Some(Poll::Failed)) && self.infos.with(|infos| infos.get(key).is_some())
    }

    /// `update_status` (protocol 1.1), with the reset that a new lifecycle of a room brings from 0.5.22 on.
    pub fn update_status(&self, key: RoomKey, status: Poll, config: &Config) {
        let created = room::update_status(&self.rooms, key, status, config.switches);
        if created && config.on(Switch::RoomReset) {
            self.targets.with(|targets| targets.remove(key));
            self.poisoned.with(|poisoned| poisoned.remove(key));
            self.outstanding.with(|outstanding| outstanding.remove(key));
        }
    }

    /// How many chunks of `key` a worker has in hand.
    pub fn outstanding_of(&self, key: RoomKey) -> i8 {
        self.outstanding.with(|outstanding| outstanding.get(key).copied().unwrap_or(0))
    }

    /// Counts a chunk in (+1) or out (-1): a read and a write, as `+=` on a dictionary is. A counter that reaches zero
    /// is dropped.
    pub fn count(&self, key: RoomKey, change: i8) {
        let counter = self.outstanding_of(key) + change;
        self.outstanding.with(|outstanding| {
            if counter > 0 {
                outstanding.set(key, counter);
            } else {
                outstanding.remove(key);
            }
        });
    }

    /// P17 (MC:2855): a worker that has counted a chunk out forgets who wanted the room's pages, once nobody has a chunk
    /// in hand and the room is gone, or has succeeded, or has failed with its last chunk. It goes by the room's number
    /// alone: where a room is used again meanwhile, it is the new use that is forgotten.
    pub fn tear_down(&self, key: RoomKey, last: bool) {
        let over = match self.status(key) {
            None | Some(Poll::Success) => true,
            Some(Poll::Failed) => last,
            Some(_) => false,
        };
        if over && self.outstanding_of(key) <= 0 {
            self.infos.with(|infos| infos.remove(key));
            self.outstanding.with(|outstanding| outstanding.remove(key));
        }
    }

    /// Whether nothing of `key` is in a worker's hands, as far as the engine counts.
    pub fn drained(&self, key: RoomKey) -> bool {
        self.outstanding_of(key) == 0 && !self.poisoned.with(|poisoned| poisoned.get(key).is_some())
    }
}

/// `_maybe_ack_drained_abort` (CC:1044): acknowledges a drained room to every registered target, once.
pub fn maybe_ack<P: Platform, T: Probe>(rank: u8, key: RoomKey, ctx: &mut Ctx<'_, P, T>) {
    let shared = &ctx.world.prefill[usize::from(rank)];
    if !shared.drained(key) {
        return;
    }
    let Some(targets) = shared.targets.with(|targets| targets.remove(key)) else { return };
    for (to, generation) in targets {
        ctx.world.to_decode(rank, to).with(|queue| queue.push(ToDecode::Ack { key, rank, generation }));
    }
}

/// KV_STATUS from prefill rank `rank` to decode rank `to`.
pub fn send_status<P: Platform, T: Probe>(
    rank: u8,
    to: u8,
    key: RoomKey,
    failure: Option<Verdict>,
    ctx: &mut Ctx<'_, P, T>,
) {
    ctx.world.to_decode(rank, to).with(|queue| queue.push(ToDecode::Status { key, rank, failure }));
}
