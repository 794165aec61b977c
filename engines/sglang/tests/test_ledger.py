from typing import Any

from pagefence_sglang.node.ledger import KV_PAGE, Ledger, runs

A, B = [1, 0], [2, 0]


class Notes:
    """An output that keeps what it is told."""

    node = 1

    def __init__(self) -> None:
        self.events: list[tuple[str, list[int], list[list[int]]]] = []

    def event(self, name: str, **fields: Any) -> None:
        self.events.append((name, fields["life"], (fields.get("slots") or fields["cells"])["runs"]))


def ledger() -> tuple[Ledger, Notes]:
    notes = Notes()
    return Ledger(notes, 4), notes  # type: ignore[arg-type]


def test_runs_keep_the_order() -> None:
    assert runs([3, 4, 9, 1, 2]) == [[3, 2], [9, 1], [1, 2]]
    assert runs([]) == []


def test_a_slot_that_a_life_has_already_is_not_given_again() -> None:
    books, notes = ledger()
    books.alloc(A, KV_PAGE, [1, 2])
    books.alloc(A, KV_PAGE, [1, 2, 3])
    books.alloc(A, KV_PAGE, [2])
    assert notes.events == [("alloc", A, [[1, 2]]), ("alloc", A, [[3, 1]])]


def test_a_slot_that_another_life_is_given_is_told_of_although_nobody_freed_it() -> None:
    books, notes = ledger()
    books.alloc(A, KV_PAGE, [1])
    books.alloc(B, KV_PAGE, [1])
    assert notes.events == [("alloc", A, [[1, 1]]), ("alloc", B, [[1, 1]])]


def test_slots_are_freed_for_whoever_has_them_and_a_second_time_for_whoever_had_them() -> None:
    books, notes = ledger()
    books.alloc(A, KV_PAGE, [1, 2])
    books.alloc(B, KV_PAGE, [3])
    books.free(KV_PAGE, [1, 2, 3])
    books.free(KV_PAGE, [2])
    assert notes.events[2:] == [("free", A, [[1, 2]]), ("free", B, [[3, 1]]), ("free", A, [[2, 1]])]


def test_what_nobody_ever_had_is_not_told_of() -> None:
    books, notes = ledger()
    books.free(KV_PAGE, [7])
    assert notes.events == []


def test_pages_of_slots() -> None:
    books, _ = ledger()
    assert books.pages([5, 6, 7, 12, 4]) == [1, 3]


def test_nothing_is_said_of_an_access_to_nothing() -> None:
    books, notes = ledger()
    books.read(A, KV_PAGE, [])
    assert notes.events == []
