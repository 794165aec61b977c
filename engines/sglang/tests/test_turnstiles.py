"""Threads that are let go on one at a time. Nothing here waits for time to pass."""

import threading

import pytest

from pagefence_sglang.node.controlled.turnstiles import HungError, Turnstiles


def started(target: object) -> threading.Thread:
    thread = threading.Thread(target=target, daemon=True)  # type: ignore[arg-type]
    thread.start()
    return thread


def test_a_thread_stands_still_until_it_is_let_through_and_gets_what_the_keeper_says() -> None:
    turnstiles, heard = Turnstiles(), []

    def work() -> None:
        while True:
            said = turnstiles.wait("gate")
            heard.append(said)

    started(work)
    turnstiles.expect("gate", 1)
    assert heard == []
    turnstiles.let_through(turnstiles.waiting("gate")[0], "first")
    # It is back at the gate when `let_through` returns: what it did is done.
    assert heard == ["first"]
    assert len(turnstiles.waiting("gate")) == 1


def test_a_thread_that_dies_is_not_waited_for_and_is_told_of_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading, "excepthook", lambda _: None)
    turnstiles, told = Turnstiles(), []
    turnstiles.watch_deaths()

    def work() -> None:
        turnstiles.wait("gate")
        raise KeyError("room")

    started(work)
    turnstiles.expect("gate", 1)
    turnstiles.let_through(turnstiles.waiting("gate")[0])
    turnstiles.take_deaths(lambda _, error: told.append(repr(error)))
    turnstiles.take_deaths(lambda _, error: told.append(repr(error)))
    assert told == ["KeyError('room')"]


def test_a_thread_that_does_not_come_back_has_hung() -> None:
    turnstiles, never = Turnstiles(patience=0.0), threading.Event()
    there = threading.Event()

    def work() -> None:
        there.set()
        turnstiles.wait("gate")
        never.wait()

    started(work)
    there.wait()
    while not turnstiles.waiting("gate"):
        pass
    with pytest.raises(HungError, match="went on from `gate`"):
        turnstiles.let_through(turnstiles.waiting("gate")[0])
    never.set()


def test_a_thread_that_never_came_is_missed() -> None:
    with pytest.raises(HungError, match="1 threads were to come to `gate`"):
        Turnstiles(patience=0.0).expect("gate", 1)
