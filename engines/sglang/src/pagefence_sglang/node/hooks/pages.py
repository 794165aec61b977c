"""KV pages: given to a request, returned to the free list."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from pagefence_sglang.node import versions
from pagefence_sglang.node.hooks.patch import around
from pagefence_sglang.node.ledger import KV_PAGE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pagefence_sglang.node.engine import Engine
    from pagefence_sglang.node.ledger import Ledger


def install(engine: Engine, ledger: Ledger) -> list[str]:
    """Tell of pages that are freed. Those that are given are told of by whoever gives them; see `given`.

    What is told is what has come into the free list: within a group the allocator only collects, one way of freeing
    uses another, and some take slots, some pages.
    """
    allocator = engine.allocator
    inside: list[str] = []

    def free(original: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        if inside:
            return original(*arguments, **options)
        before = Counter(free_list(allocator))
        inside.append("free")
        try:
            return original(*arguments, **options)
        finally:
            inside.pop()
            ledger.free(KV_PAGE, (Counter(free_list(allocator)) - before).elements())

    # Every way in which an allocator of some release takes slots back, and the end of a group of such calls.
    ways = [name for name in dir(allocator) if name.startswith("free") and callable(getattr(allocator, name))]
    for name in ways:
        around(allocator, name, free)
    return [] if "free" in ways else ["pages: the allocator has no `free`"]


def free_list(allocator: Any) -> list[int]:
    """Return the pages that are free, those that wait to be sorted in included."""
    everything = getattr(allocator, "get_all_free_pages", None)
    lists = [everything()] if everything else [allocator.free_pages, getattr(allocator, "release_pages", None)]
    return [page for each in lists if each is not None for page in each.tolist()]


def given(engine: Engine, ledger: Ledger, request: Any, tokens: int) -> list[int]:
    """Tell of the pages that a request has for its first `tokens` tokens; return the slots of these."""
    row = versions.row_of(request)
    life = ledger.life(request.rid)
    if row is None or life is None:
        return []
    slots: list[int] = engine.rows.req_to_token[row, :tokens].tolist()
    ledger.alloc(life, KV_PAGE, ledger.pages(slots))
    return slots


def of_batch(engine: Engine, ledger: Ledger, batch: Any) -> Iterator[tuple[Any, list[int]]]:
    """Yield each request of a batch with the slots of its context, the tokens of this forward included."""
    for request, length in zip(batch.reqs, batch.seq_lens.tolist(), strict=True):
        yield request, given(engine, ledger, request, length)
