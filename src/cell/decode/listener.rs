//! `decode_thread`: statuses, acknowledgements and metadata from prefill.

use crate::cell::message::{AuxData, Queue, ToDecode};
use crate::cell::room::{Poll, RoomKey};
use crate::cell::site::Site;
use crate::cell::switch::Switch;
use crate::cell::world::{Config, Ctx, Probe, row_index};
use crate::lifetime::{Event, Span, Verdict};
use crate::platform::{Platform, Shared};

/// Handles the oldest control message from prefill rank `from` at decode rank `rank`; returns whether there was one.
pub fn listen<P: Platform, T: Probe>(rank: u8, from: u8, ctx: &mut Ctx<'_, P, T>) -> bool {
    let Some(message) = ctx.world.to_decode(from, rank).with(Queue::pop) else { return false };
    let (world, config) = (ctx.world, ctx.config);
    world.decode[usize::from(rank)].in_one_go(config, || match message {
        ToDecode::Status { key, rank: prefill, failure } => status(rank, key, prefill, failure, ctx),
        ToDecode::Ack { key, rank: prefill, generation } => ack(rank, key, prefill, generation, ctx),
    });
    true
}

/// D9, D10: the room is Success once every expected prefill rank has said so, and Failed as soon as one has.
fn status<P: Platform, T: Probe>(
    rank: u8,
    key: RoomKey,
    prefill: u8,
    failure: Option<Verdict>,
    ctx: &mut Ctx<'_, P, T>,
) {
    let shared = &ctx.world.decode[usize::from(rank)];
    if shared.status(key).is_none() && ctx.on(Switch::NoResurrection) {
        return;
    }
    if let Some(reason) = failure {
        if ctx.on(Switch::StickyReason) {
            shared.reasons.with(|reasons| reasons.set(key, reason));
        }
        shared.update_status(key, Poll::Failed, ctx.config);
        return;
    }
    shared.responses.with(|responses| *responses.entry(key) |= 1 << prefill);
    let responses =
        shared.responses.with(|responses| responses.get(key).map_or(0, |ranks| ranks.count_ones() as usize));
    if responses >= ctx.config.scope.prefill_peers(rank).count() {
        shared.update_status(key, Poll::Success, ctx.config);
    }
}

/// ABORT_ACK counts only while the room is armed, and only for the armed generation where there is one (CC:988).
fn ack<P: Platform, T: Probe>(rank: u8, key: RoomKey, prefill: u8, generation: u8, ctx: &mut Ctx<'_, P, T>) {
    let armed = &ctx.world.decode[usize::from(rank)].armed;
    let expected = armed.with(|armed| armed.get(key).map(|armed| armed.generation));
    if ctx.on(Switch::Generation) && expected != Some(generation) {
        return;
    }
    armed.with(|armed| {
        let Some(armed) = armed.get_mut(key) else { return };
        armed.ranks |= 1 << prefill;
        armed.count = armed.count.saturating_add(1);
    });
}

/// AUX_DATA: a `memcpy` into the row that the message names. The room is not validated (protocol 5), except with
/// `aux_validated`: the row must still be reserved for the room of the message.
pub fn listen_aux<P: Platform, T: Probe>(rank: u8, from: u8, ctx: &mut Ctx<'_, P, T>) -> bool {
    let lane = ctx.world.aux(from, rank);
    // Looked at, handled, then taken out: until then no other message may have its name. Nobody else takes from here.
    let Some(message) = lane.with(|queue| queue.first().cloned()) else { return false };
    let (world, config) = (ctx.world, ctx.config);
    // A row must not change hands between the look at its owner and the copy.
    world.decode[usize::from(rank)].in_one_go(config, || copy_row(rank, &message, ctx));
    lane.with(Queue::pop);
    true
}

fn copy_row<P: Platform, T: Probe>(rank: u8, message: &AuxData, ctx: &mut Ctx<'_, P, T>) {
    let shared = &ctx.world.decode[usize::from(rank)];
    let (op, row) = (message.op, row_index(&message.row));
    if ctx.on(Switch::AuxValidated) {
        if shared.owners.with(|owners| owners[row] != Some(message.key)) {
            return;
        }
        let target = Some(ctx.config.cells(&message.row, 1));
        ctx.emit(Site::LandAux, Event::Post { op, life: Config::life(message.request), source: None, target });
    }
    ctx.emit(Site::LandAux, Event::Land { op, part: Span::new(0, 1) });
    ctx.emit(Site::LandAux, Event::Settle { op });
    shared.rows.with(|rows| rows[row] = message.content);
}
