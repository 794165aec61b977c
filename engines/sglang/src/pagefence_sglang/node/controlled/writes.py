"""The transfer engine under control: a posted write waits until the driver says what lands, and what is reported."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pagefence_sglang.node.controlled import memory
from pagefence_sglang.node.ledger import KV_PAGE, Life, runs

if TYPE_CHECKING:
    from pagefence_sglang.node.controlled.turnstiles import Turnstiles
    from pagefence_sglang.node.ledger import Ledger
    from pagefence_sglang.node.output import Output

POSTED = "posted"
# The initiator is told 0 for done and -1 for anything else.
DONE, FAILED = 0, -1


@dataclass(frozen=True)
class Buffers:
    """Arrays of equal items in memory: a layer of KV pages, a field of the metadata rows."""

    arena: str
    starts: list[int]
    item: list[int]
    length: list[int]

    def find(self, address: int) -> tuple[int, int] | None:
        """Return in which array an address is, and in which item of it."""
        for number, (start, item, length) in enumerate(zip(self.starts, self.item, self.length, strict=True)):
            if start <= address < start + length:
                return number, (address - start) // item
        return None


@dataclass(frozen=True)
class Peer:
    """Another node, as a target of writes."""

    node: int
    process: int
    buffers: list[Buffers]


@dataclass
class Write:
    """A write that has been posted."""

    op: int
    peer: str
    life: Life | None
    arena: str
    # Which item goes to which, in the order of the tokens, and the pieces of memory of each.
    source: list[int]
    target: list[int]
    pieces: list[list[tuple[int, int, int]]] = field(repr=False)


class Writes:
    """What the engine takes for its transfer engine."""

    def __init__(self, output: Output, ledger: Ledger, turnstiles: Turnstiles) -> None:
        self._output = output
        self._ledger = ledger
        self._turnstiles = turnstiles
        self._numbers = itertools.count(1)
        self._own: list[Buffers] = []
        self._peers: dict[str, Peer] = {}
        self.writes: dict[int, Write] = {}

    def know(self, own: list[Buffers]) -> None:
        """Learn where this node's slots are in memory."""
        self._own = own

    def know_peer(self, session: str, peer: Peer) -> None:
        """Learn which process a session is, and where its slots are."""
        self._peers[session] = peer

    # What the engine calls.

    def get_session_id(self) -> str:
        """Return the name by which peers know this node; the number is taken for a port."""
        return f"127.0.0.1:{15_000 + self._output.node}"

    def batch_register(self, *_: Any) -> int:
        """Registration is not modelled: a network card reaches all that is registered, and that is everything."""
        return DONE

    batch_deregister = register = deregister = batch_register

    def get_ib_device(self) -> None:
        """There is no device."""

    def send_probe(self, _: str) -> int:
        """Peers are there."""
        return DONE

    def transfer_sync(self, session: str, source: int, target: int, length: int) -> int:
        """Post one piece, as `batch_transfer_sync`."""
        return self.batch_transfer_sync(session, [source], [target], [length])

    def batch_transfer_sync(self, session: str, sources: list[int], targets: list[int], lengths: list[int]) -> int:
        """Post a write, and wait for what the driver says has come of it."""
        pieces = [(int(s), int(t), int(n)) for s, t, n in zip(sources, targets, lengths, strict=True)]
        write = self._write(session, pieces)
        self.writes[write.op] = write
        area = {"arena": write.arena}
        width = self._ledger.page_size if write.arena == KV_PAGE else 1
        self._output.event(
            "post",
            op=write.op,
            life=write.life,
            source={"node": self._output.node, **area, "runs": _widen(runs(write.source), width)},
            target={"node": self._peers[session].node, **area, "runs": _widen(runs(write.target), width)},
        )
        result: int = self._turnstiles.wait(POSTED, write.op)
        return result

    # What the driver says.

    def land(self, op: int, start: int, count: int) -> None:
        """Let items `start..start + count` of a write arrive, with what the source holds now."""
        write = self.writes[op]
        pieces = [piece for item in write.pieces[start : start + count] for piece in item]
        memory.copy(self._peers[write.peer].process, pieces)
        width = self._ledger.page_size if write.arena == KV_PAGE else 1
        self._output.event("land", op=op, part=[start * width, count * width])

    def report(self, op: int, status: int) -> None:
        """Tell the initiator of a write how it ended."""
        waiting = next(each for each in self._turnstiles.waiting(POSTED) if each.about == op)
        self._turnstiles.let_through(waiting, status)

    def settle(self, op: int) -> None:
        """Nothing of a write can arrive any more."""
        del self.writes[op]
        self._output.event("settle", op=op)

    def _write(self, session: str, pieces: list[tuple[int, int, int]]) -> Write:
        """Make out which items a list of pieces of memory is about."""
        items: dict[int, list[tuple[int, int, int]]] = {}
        arena = None
        for source, target, length in pieces:
            own, number, first = _find(self._own, source)
            arena = own.arena
            size = own.item[number]
            for nth in range(max(1, length // size)):
                cut = (source + nth * size, target + nth * size, min(size, length))
                items.setdefault(first + nth, []).append(cut)
        if arena is None:
            raise ValueError("a write of nothing")
        own_items = list(items)
        there = self._peers[session].buffers
        their_items = [_find(there, items[item][0][1])[2] for item in own_items]
        life = self._ledger.owner(arena, own_items[0])
        return Write(next(self._numbers), session, life, arena, own_items, their_items, list(items.values()))


def _find(buffers: list[Buffers], address: int) -> tuple[Buffers, int, int]:
    """Return in which buffers an address is, in which array of them, and in which item."""
    for each in buffers:
        found = each.find(address)
        if found is not None:
            return each, *found
    raise ValueError(f"{address:#x} is in no known buffer")


def _widen(found: list[list[int]], width: int) -> list[list[int]]:
    return [[start * width, count * width] for start, count in found]
