//! What decode's scheduler, listener and heartbeat share; one cell each, as in the engine (protocol section 4).

use crate::cell::message::{RowContent, ToPrefill};
use crate::cell::room::{self, Poll, RoomKey, RoomTable, Table};
use crate::cell::scope::Scope;
use crate::cell::switch::Switch;
use crate::cell::world::{Config, Ctx, Probe, rehost};
use crate::few::{Few, clone_by_field};
use crate::lifetime::Verdict;
use crate::platform::{Lock, Platform, Shared};
use derive_where::derive_where;

/// An armed abort: which acknowledgements have come (`_deferred_abort_ack_tracker`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Armed {
    /// The generation that was armed.
    pub generation: u8,
    /// Which prefill ranks have acknowledged, as a bit set.
    pub ranks: u8,
    /// How many acknowledgements have come, repeats included.
    pub count: u8,
}

impl Armed {
    /// How many acknowledgements count.
    #[must_use]
    pub fn acks(&self, config: &Config) -> usize {
        if config.on(Switch::AckSet) { self.ranks.count_ones() as usize } else { usize::from(self.count) }
    }
}

/// The shared state of one decode rank.
#[derive_where(Debug, PartialEq, Eq, Hash)]
pub struct DecodeShared<P: Platform> {
    /// `request_status`.
    pub rooms: P::Cell<RoomTable>,
    /// `prefill_response_tracker`: which prefill ranks have reported success, as a bit set.
    pub responses: P::Cell<Table<u8>>,
    /// Armed aborts.
    pub armed: P::Cell<Table<Armed>>,
    /// The last generation that was armed.
    pub generation: P::Cell<u8>,
    /// Why a room failed, as prefill told (`sticky_reason` only).
    pub reasons: P::Cell<Table<Verdict>>,
    /// The metadata rows' memory.
    pub rows: P::Cell<Few<RowContent, 2>>,
    /// Which room each metadata row is reserved for; only `aux_validated` reads it from another thread.
    pub owners: P::Cell<Few<Option<RoomKey>, 2>>,
    /// What `locked_tables` holds while it works on the tables.
    lock: P::Lock,
}

clone_by_field!(DecodeShared <P: Platform> { rooms, responses, armed, generation, reasons, rows, owners, lock });

impl<P: Platform> DecodeShared<P> {
    /// The state of a process that has just started.
    #[must_use]
    pub fn new(scope: &Scope) -> Self {
        Self {
            rooms: Shared::new(RoomTable::default()),
            responses: Shared::new(Table::default()),
            armed: Shared::new(Table::default()),
            generation: Shared::new(0),
            reasons: Shared::new(Table::default()),
            rows: Shared::new(Few::from_elem(RowContent::default(), scope.metadata_rows as usize)),
            owners: Shared::new(Few::from_elem(None, scope.metadata_rows as usize)),
            lock: Lock::new(),
        }
    }

    /// The same state on another platform.
    pub(in crate::cell) fn rehosted<Q: Platform>(&self) -> DecodeShared<Q> {
        DecodeShared {
            rooms: rehost::<_, _, Q>(&self.rooms),
            responses: rehost::<_, _, Q>(&self.responses),
            armed: rehost::<_, _, Q>(&self.armed),
            generation: rehost::<_, _, Q>(&self.generation),
            reasons: rehost::<_, _, Q>(&self.reasons),
            rows: rehost::<_, _, Q>(&self.rows),
            owners: rehost::<_, _, Q>(&self.owners),
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

    /// `update_status` (protocol 1.1).
    pub fn update_status(&self, key: RoomKey, status: Poll, config: &Config) {
        room::update_status(&self.rooms, key, status, config.switches);
    }

    /// `register_deferred_abort_room` (protocol 6.2, decode 2): a new generation and an empty set, even where the room
    /// is armed already. Nothing is merged: a room that is used again while its last use is held starts from nothing.
    pub fn arm(&self, key: RoomKey) {
        let generation = self.generation.with(|generation| {
            *generation = generation.wrapping_add(1);
            *generation
        });
        self.armed.with(|armed| armed.set(key, Armed { generation, ranks: 0, count: 0 }));
    }

    /// How many acknowledgements have come for `key`.
    pub fn acks(&self, key: RoomKey, config: &Config) -> usize {
        self.armed.with(|armed| armed.get(key).map_or(0, |armed| armed.acks(config)))
    }

    /// `receiver.clear()`: the room leaves the tables.
    pub fn clear_receiver(&self, key: RoomKey, config: &Config) {
        self.in_one_go(config, || {
            self.rooms.with(|rooms| rooms.remove(key));
            self.responses.with(|responses| responses.remove(key));
        });
    }
}

/// ABORT from decode rank `rank` to every prefill rank that it knows.
pub fn send_abort<P: Platform, T: Probe>(rank: u8, key: RoomKey, ctx: &mut Ctx<'_, P, T>) {
    let shared = &ctx.world.decode[usize::from(rank)];
    let armed = shared.armed.with(|armed| armed.get(key).copied()).unwrap_or_default();
    let generation = if ctx.on(Switch::Generation) { armed.generation } else { 0 };
    for to in ctx.config.scope.prefill_peers(rank) {
        ctx.world.to_prefill(rank, to).with(|queue| queue.push(ToPrefill::Abort { key, rank, generation }));
    }
}
