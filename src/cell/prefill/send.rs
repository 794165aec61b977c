//! `send_kv_chunk`: what part of a request goes to the workers, and when (protocol 2.3 P9 to P11, 2.4).
//!
//! `add_transfer_request` looks at the room first: a chunk of one that is Failed, or gone, or has no transfer infos, is not
//! queued (every release, seen in conformance).

use super::scheduler::PrefillRequest;
use super::shared::Chunk;
use crate::cell::pool::part;
use crate::cell::world::{Ctx, Probe};
use crate::lifetime::Slots;
use crate::platform::{Platform, Shared};

/// Queues the tokens up to `end` that have not been sent yet, on every rank. The last chunk carries the metadata row
/// and is sent even when no page is left to send; another one ends on a page boundary.
pub fn send_chunk<P: Platform, T: Probe>(request: &mut PrefillRequest, end: u32, last: bool, ctx: &mut Ctx<'_, P, T>) {
    let page_size = ctx.config.scope.page_size;
    let start = request.sent;
    let end = if last { end } else { end / page_size * page_size };
    if end == start && !last {
        return;
    }
    let offset = start / page_size;
    let count = end.div_ceil(page_size) - offset;
    for (rank, held) in request.ranks.iter().enumerate() {
        let Some(pages) = &held.pages else { continue };
        let chunk = Chunk {
            key: request.key,
            request: request.request,
            pages: Slots { place: pages.place, runs: part(&pages.runs, offset, count) },
            offset,
            tokens: end - start,
            end,
            row: held.row.clone().filter(|_| last),
        };
        let shared = &ctx.world.prefill[rank];
        shared.in_one_go(ctx.config, || {
            if shared.takes_chunks(chunk.key) {
                shared.queue.with(|queue| queue.push(chunk));
            }
        });
    }
    request.sent = end;
}
