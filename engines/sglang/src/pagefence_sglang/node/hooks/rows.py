"""Metadata rows: given when a room is opened on either side, filled by prefill, returned to the free list."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from pagefence_sglang.node.hooks.patch import around
from pagefence_sglang.node.ledger import METADATA_ROW

if TYPE_CHECKING:
    from collections import deque
    from collections.abc import Callable

    from pagefence_sglang.node.engine import Engine
    from pagefence_sglang.node.ledger import Ledger, Life
    from pagefence_sglang.node.options import Options


def allocator(engine: Engine) -> Any:
    """Return the allocator of metadata rows."""
    return engine.queue.req_to_metadata_buffer_idx_allocator


def install(engine: Engine, ledger: Ledger, options: Options) -> list[str]:
    """Tell of rows. The sender's `init` and the receiver's `send_metadata` say whose a row is."""
    rows = allocator(engine)
    free: deque[int] = rows.free_slots
    while len(free) > options.metadata_rows:
        free.pop()
    connection = importlib.import_module("sglang.srt.disaggregation.mooncake.conn")

    def row_is_freed(original: Callable[..., Any], index: int) -> Any:
        ledger.free(METADATA_ROW, [int(index)])
        return original(index)

    def opened(original: Callable[..., Any], this: Any, *arguments: Any, **options: Any) -> Any:
        # Both take the row second: `init(num_kv_indices, aux_index)`, `send_metadata(kv_indices, aux_index)`.
        row = options.get("aux_index", arguments[1] if len(arguments) > 1 else None)
        life = _whose(engine, ledger, this)
        if row is not None and life is not None:
            ledger.alloc(life, METADATA_ROW, [int(row)])
        return original(this, *arguments, **options)

    def filled(original: Callable[..., Any], buffers: Any, request: Any, *arguments: Any, **options: Any) -> Any:
        life = ledger.life(request.rid)
        if life is not None:
            ledger.write(life, METADATA_ROW, [int(request.metadata_buffer_index)])
        return original(buffers, request, *arguments, **options)

    utils = importlib.import_module("sglang.srt.disaggregation.utils")
    there = {
        "set_buf": around(utils.MetadataBuffers, "set_buf", filled),
        "free": around(rows, "free", row_is_freed),
        "init": around(connection.MooncakeKVSender, "init", opened),
        "send_metadata": around(connection.MooncakeKVReceiver, "send_metadata", opened),
    }
    return [f"rows: no `{name}`" for name, found in there.items() if not found]


def _whose(engine: Engine, ledger: Ledger, connection: Any) -> Life | None:
    """Return whose sender or receiver it is: one in the queue that opens rooms.

    Rooms may be shared, objects are not.
    """
    for each in engine.queue.queue:
        request = getattr(each, "req", each)
        own = (getattr(request, "disagg_kv_sender", None), getattr(each, "kv_receiver", None))
        if any(one is connection for one in own):
            return ledger.life(request.rid)
    return None
