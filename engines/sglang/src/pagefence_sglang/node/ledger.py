"""Who owns what on this node, as far as the hooks have seen: lives by request, owners of slots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pagefence_sglang.node.output import Output

Runs = list[list[int]]
# A request of the driver, and how often it has been tried.
Life = list[int]

KV_PAGE = "kv_page"
METADATA_ROW = "metadata_row"
REQUEST_ROW = "request_row"


def runs(indices: Iterable[int]) -> Runs:
    """Return `[start, length]` runs of `indices`, in their order."""
    out: Runs = []
    for index in indices:
        if out and out[-1][0] + out[-1][1] == index:
            out[-1][1] += 1
        else:
            out.append([index, 1])
    return out


class Ledger:
    """Turns what the engine does with indices into events of the trace, which name lives."""

    def __init__(self, output: Output, page_size: int) -> None:
        self.output = output
        self.page_size = page_size
        self._by_rid: dict[str, Life] = {}
        self._owners: dict[tuple[str, int], Life] = {}
        # Who owned what is free now: a slot that is freed twice is freed for him again.
        self._last: dict[tuple[str, int], Life] = {}

    def begin(self, rid: str, life: Life) -> None:
        """Take note of a request."""
        self._by_rid[rid] = life

    def life(self, rid: str) -> Life | None:
        """Whose request `rid` is; nobody's if the driver has not sent it."""
        return self._by_rid.get(rid)

    def owner(self, arena: str, index: int) -> Life | None:
        """Who has a slot now, or had it last."""
        return self._owners.get((arena, index)) or self._last.get((arena, index))

    def alloc(self, life: Life, arena: str, indices: Iterable[int]) -> None:
        """Slots are given to `life`; what it has already is passed over."""
        new = [index for index in indices if self._owners.get((arena, index)) != life]
        for index in new:
            self._owners[arena, index] = life
        if new:
            self.output.event("alloc", life=life, slots=self._area(arena, runs(new)))

    def free(self, arena: str, indices: Iterable[int]) -> None:
        """Slots return to the free list, on behalf of whoever has them, or had them last."""
        by_life: list[tuple[Life, list[int]]] = []
        for index in indices:
            owner = self._owners.pop((arena, index), None) or self._last.get((arena, index))
            if owner is None:
                continue
            self._last[arena, index] = owner
            if not by_life or by_life[-1][0] != owner:
                by_life.append((owner, []))
            by_life[-1][1].append(index)
        for life, freed in by_life:
            self.output.event("free", life=life, slots=self._area(arena, runs(freed)))

    def write(self, life: Life, arena: str, cells: Iterable[int], **more: Any) -> None:
        """Tell that the owner writes cells: tokens of pages, or whole rows."""
        self._access("write", life, arena, cells, more)

    def read(self, life: Life, arena: str, cells: Iterable[int], **more: Any) -> None:
        """Somebody reads cells, and expects his own in each."""
        self._access("read", life, arena, cells, more)

    def pages(self, slots: Iterable[int]) -> list[int]:
        """Return the pages of token slots, each once, in the order of the tokens."""
        return list(dict.fromkeys(slot // self.page_size for slot in slots))

    def _access(self, event: str, life: Life, arena: str, cells: Iterable[int], more: dict[str, Any]) -> None:
        found = runs(cells)
        if found:
            self.output.event(event, life=life, cells=self._area(arena, found), **more)

    def _area(self, arena: str, found: Runs) -> dict[str, Any]:
        return {"node": self.output.node, "arena": arena, "runs": found}
