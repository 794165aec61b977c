"""Posted writes between two buffers of this very process: `process_vm_writev` does not mind."""

from __future__ import annotations

import ctypes
import os
import threading
from typing import Any

import pytest

from pagefence_sglang.node.controlled import memory
from pagefence_sglang.node.controlled.turnstiles import Turnstiles
from pagefence_sglang.node.controlled.writes import DONE, FAILED, Buffers, Peer, Writes
from pagefence_sglang.node.ledger import KV_PAGE, Ledger

A = [1, 0]
PAGE, PAGES, TOKENS = 16, 4, 4


class Notes:
    """An output that keeps what it is told."""

    node = 0

    def __init__(self) -> None:
        self.events: list[tuple[str, dict[str, Any]]] = []

    def event(self, name: str, **fields: Any) -> None:
        self.events.append((name, fields))


class Layer:
    """A layer of KV pages in memory."""

    def __init__(self, fill: bytes) -> None:
        self.bytes = ctypes.create_string_buffer(fill * (PAGE * PAGES), PAGE * PAGES)
        self.start = ctypes.addressof(self.bytes)

    def page(self, number: int) -> bytes:
        return self.bytes.raw[number * PAGE : (number + 1) * PAGE]


class Pair:
    """Two layers of prefill, two of decode, and prefill's writes."""

    def __init__(self) -> None:
        self.ours, self.theirs = [Layer(b"p"), Layer(b"q")], [Layer(b"."), Layer(b".")]
        self.notes, self.turnstiles = Notes(), Turnstiles()
        ledger = Ledger(self.notes, TOKENS)  # type: ignore[arg-type]
        self.writes = Writes(self.notes, ledger, self.turnstiles)  # type: ignore[arg-type]
        self.writes.know([self.buffers(self.ours)])
        self.writes.know_peer("decode", Peer(1, os.getpid(), [self.buffers(self.theirs)]))
        ledger.alloc(A, KV_PAGE, [1, 2])
        self.status: list[int] = []

    @staticmethod
    def buffers(layers: list[Layer]) -> Buffers:
        count = len(layers)
        return Buffers(KV_PAGE, [layer.start for layer in layers], [PAGE] * count, [PAGE * PAGES] * count)

    def post(self) -> int:
        """Pages 1 and 2 go to pages 3 and 0, in every layer; the first as one piece each."""
        pieces = [
            (ours.start + own * PAGE, theirs.start + other * PAGE, PAGE)
            for ours, theirs in zip(self.ours, self.theirs, strict=True)
            for own, other in ((1, 3), (2, 0))
        ]
        sources, targets, lengths = (list(each) for each in zip(*pieces, strict=True))

        def initiator() -> None:
            self.status.append(self.writes.batch_transfer_sync("decode", sources, targets, lengths))
            self.turnstiles.wait("over")

        threading.Thread(target=initiator, daemon=True).start()
        self.turnstiles.expect("posted", 1)
        return next(iter(self.writes.writes))

    def landed(self) -> list[bytes]:
        return [layer.page(number)[:1] for layer in self.theirs for number in range(PAGES)]


def test_a_posted_write_moves_nothing_and_names_its_pages_and_tokens() -> None:
    pair = Pair()
    pair.post()
    assert pair.landed() == [b"."] * 8
    name, fields = pair.notes.events[-1]
    assert name == "post"
    assert fields["life"] == A
    assert fields["source"] == {"node": 0, "arena": KV_PAGE, "runs": [[4, 8]]}
    assert fields["target"] == {"node": 1, "arena": KV_PAGE, "runs": [[12, 4], [0, 4]]}


def test_a_page_lands_in_every_layer_with_what_its_source_holds_by_then() -> None:
    pair = Pair()
    op = pair.post()
    ctypes.memset(pair.ours[0].start + PAGE, ord("x"), PAGE)
    pair.writes.land(op, 0, 1)
    assert pair.landed() == [b".", b".", b".", b"x", b".", b".", b".", b"q"]
    assert pair.notes.events[-1] == ("land", {"op": op, "part": [0, 4]})
    pair.writes.land(op, 1, 1)
    assert pair.landed() == [b"p", b".", b".", b"x", b"q", b".", b".", b"q"]
    assert pair.notes.events[-1] == ("land", {"op": op, "part": [4, 4]})


@pytest.mark.parametrize("status", [DONE, FAILED])
def test_the_initiator_hears_what_the_driver_says(status: int) -> None:
    pair = Pair()
    op = pair.post()
    assert pair.status == []
    pair.writes.report(op, status)
    assert pair.status == [status]


def test_nothing_lands_of_a_write_that_is_settled() -> None:
    pair = Pair()
    op = pair.post()
    pair.writes.settle(op)
    with pytest.raises(KeyError):
        pair.writes.land(op, 0, 1)
    assert pair.landed() == [b"."] * 8


def test_an_address_that_is_nobodys_is_refused() -> None:
    pair = Pair()
    with pytest.raises(ValueError, match="is in no known buffer"):
        pair.writes.batch_transfer_sync("decode", [1], [pair.theirs[0].start], [PAGE])


def test_memory_that_is_not_there_is_an_error() -> None:
    with pytest.raises(OSError, match="wrote"):
        memory.copy(os.getpid(), [(ctypes.addressof(ctypes.create_string_buffer(8)), 8, 8)])
