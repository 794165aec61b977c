//! The bootstrap thread: handshakes and aborts from decode.

use super::shared::{maybe_ack, send_status};
use crate::cell::message::{Queue, ToPrefill, TransferInfo};
use crate::cell::room::{Poll, RoomKey};
use crate::cell::switch::Switch;
use crate::cell::world::{Ctx, Probe};
use crate::lifetime::Verdict;
use crate::platform::{Platform, Shared};

/// Handles the oldest message from decode rank `from` at prefill rank `rank`; returns whether there was one.
pub fn listen<P: Platform, T: Probe>(rank: u8, from: u8, ctx: &mut Ctx<'_, P, T>) -> bool {
    let Some(message) = ctx.world.to_prefill(from, rank).with(Queue::pop) else { return false };
    let (world, config) = (ctx.world, ctx.config);
    world.prefill[usize::from(rank)].in_one_go(config, || match message {
        ToPrefill::Info(info) => handshake(rank, info, ctx),
        ToPrefill::Abort { key, rank: to, generation } => abort(rank, key, to, generation, ctx),
    });
    true
}

/// P3: keeps the peer's destination; the last one that is expected opens the room, which may not exist yet.
fn handshake<P: Platform, T: Probe>(rank: u8, info: TransferInfo, ctx: &mut Ctx<'_, P, T>) {
    let shared = &ctx.world.prefill[usize::from(rank)];
    let (key, from) = (info.key, info.rank);
    if ctx.on(Switch::NotifyPeer) && shared.status(key) == Some(Poll::Failed) {
        let reason = shared.reasons.with(|reasons| reasons.get(key).copied()).unwrap_or(Verdict::Failed);
        send_status(rank, from, key, Some(reason), ctx);
        return;
    }
    shared.infos.with(|infos| {
        let peers = infos.entry(key);
        peers.retain(|peer| peer.rank != from);
        peers.push(info);
    });
    let known = shared.infos.with(|infos| infos.get(key).map_or(0, |peers| peers.len()));
    if known == ctx.config.scope.decode_peers(rank).count() {
        shared.update_status(key, Poll::WaitingForInput, ctx.config);
    }
}

/// P21: marks the room Failed first, so that no new chunk is admitted, then registers who to acknowledge to, then tries.
fn abort<P: Platform, T: Probe>(rank: u8, key: RoomKey, to: u8, generation: u8, ctx: &mut Ctx<'_, P, T>) {
    let shared = &ctx.world.prefill[usize::from(rank)];
    let status = shared.status(key);
    match status {
        Some(Poll::Success) => {}
        Some(_) => shared.update_status(key, Poll::Failed, ctx.config),
        // A tombstone: the request that this abort is about may still come.
        None if ctx.on(Switch::NotifyPeer) => shared.rooms.with(|rooms| rooms.set(key, Poll::Failed)),
        None => {}
    }
    let gone = status.is_none() && !ctx.on(Switch::RegisterWhenCleared);
    let poisoned = shared.poisoned.with(|poisoned| poisoned.get(key).is_some());
    let refused = (poisoned && !ctx.on(Switch::PoisonRecovers)) || (gone && shared.outstanding_of(key) > 0);
    if !refused {
        // Copied, changed, put back (copy-on-write, protocol 6.2, prefill 1): an acknowledgement may come in between.
        let mut targets = shared.targets.with(|targets| targets.get(key).cloned()).unwrap_or_default();
        // 0.5.20 keeps one target a room (protocol 11, ack targets).
        targets.retain(|target| target.0 != to && ctx.config.on(Switch::KeepAckTargetOnClear));
        targets.push((to, generation));
        shared.targets.with(|all| all.set(key, targets));
    }
    maybe_ack(rank, key, ctx);
}
