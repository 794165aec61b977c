"""Hooks, around allocators and results as the releases have them."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import pytest

from pagefence_sglang.node import clock
from pagefence_sglang.node.hooks import answers, pages
from pagefence_sglang.node.hooks.patch import around
from pagefence_sglang.node.ledger import KV_PAGE, Ledger

A, B = [1, 0], [2, 0]


class Indices(list[int]):
    """A tensor, as far as the hooks look."""

    def tolist(self) -> list[int]:
        return list(self)


class Allocator:
    """Frees at once, or at the end of a group, as the engine's."""

    def __init__(self) -> None:
        self.free_pages = Indices([5, 6])
        self._group: list[int] | None = None

    def free(self, indices: list[int]) -> None:
        if self._group is None:
            self.free_pages = Indices(self.free_pages + indices)
        else:
            self._group += indices

    def free_group_begin(self) -> None:
        self._group = []

    def free_group_end(self) -> None:
        group, self._group = self._group or [], None
        # One way of freeing uses another.
        self.free(group)


class Notes:
    """An output that keeps what it is told."""

    node = 1

    def __init__(self) -> None:
        self.freed: list[tuple[list[int], list[list[int]]]] = []

    def event(self, name: str, **fields: Any) -> None:
        if name == "free":
            self.freed.append((fields["life"], fields["slots"]["runs"]))


@pytest.fixture
def hooked() -> tuple[Allocator, Notes]:
    notes, allocator = Notes(), Allocator()
    ledger = Ledger(notes, 4)  # type: ignore[arg-type]
    ledger.alloc(A, KV_PAGE, [1, 2])
    ledger.alloc(B, KV_PAGE, [3])
    assert pages.install(SimpleNamespace(allocator=allocator), ledger) == []  # type: ignore[arg-type]
    return allocator, notes


def test_a_page_is_freed_when_it_is_in_the_free_list(hooked: tuple[Allocator, Notes]) -> None:
    allocator, notes = hooked
    allocator.free([1, 2])
    assert notes.freed == [(A, [[1, 2]])]


def test_a_group_is_freed_at_its_end_and_once(hooked: tuple[Allocator, Notes]) -> None:
    allocator, notes = hooked
    allocator.free_group_begin()
    allocator.free([1])
    allocator.free([3])
    assert notes.freed == []
    allocator.free_group_end()
    assert notes.freed == [(A, [[1, 1]]), (B, [[3, 1]])]


def test_a_page_that_comes_into_the_list_twice_is_told_of_twice(hooked: tuple[Allocator, Notes]) -> None:
    allocator, notes = hooked
    allocator.free([1])
    allocator.free([1])
    assert notes.freed == [(A, [[1, 1]]), (A, [[1, 1]])]


def test_an_allocator_without_a_way_to_free_is_told_of() -> None:
    nothing = SimpleNamespace(allocator=SimpleNamespace(free_pages=Indices()))
    assert pages.install(nothing, Ledger(Notes(), 4)) == [  # type: ignore[arg-type]
        "pages: the allocator has no `free`"
    ]


def test_a_hook_without_a_place_says_so() -> None:
    assert not around(SimpleNamespace(), "gone", lambda original: original())


@pytest.mark.parametrize(
    ("reason", "verdict"),
    [
        ({"type": "length"}, "success"),
        ({"type": "abort"}, "aborted"),
        ({"type": "abort", "status_code": 400}, "rejected"),
        ({"type": "abort", "status_code": 500}, "failed"),
    ],
)
def test_how_a_request_ended_is_read_from_its_reason(reason: dict[str, Any], verdict: str) -> None:
    assert answers.verdict(reason) == verdict


def test_only_what_has_finished_is_an_answer() -> None:
    batch = SimpleNamespace(rids=["r0.", "r1."], finished_reasons=[None, {"type": "length"}], prompt_tokens=[9, 8])
    assert answers.answers(batch) == [{"rid": "r1.", "verdict": "success", "prompt_tokens": 8, "reason": None}]
    word = SimpleNamespace(rid="r0.", finished_reason=None)
    assert [each["verdict"] for each in answers.answers(word)] == ["aborted"]


def test_the_clock_moves_when_it_is_told_to_and_only_then() -> None:
    engine = clock.Clock()
    before = engine.monotonic()
    assert engine.time() == before
    engine.advance(10)
    assert engine.perf_counter() == before + 10
    # The rest is the real module's.
    assert engine.sleep is time.sleep
