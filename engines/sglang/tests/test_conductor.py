"""The conductor in the loop of a scheduler that is none of SGLang's."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from pagefence_sglang.errors import UserError
from pagefence_sglang.node import requests
from pagefence_sglang.node.clock import Clock
from pagefence_sglang.node.conductor import Conductor
from pagefence_sglang.node.ledger import Ledger
from pagefence_sglang.node.options import Options


class Over(BaseException):
    """The process would have ended."""


class Scheduler:
    """Takes what has come in and puts it into its queue, an iteration at a time, for ever."""

    def __init__(self) -> None:
        self.waiting_queue: list[Any] = []
        self.running_batch = SimpleNamespace(reqs=[])
        self.disagg_decode_transfer_queue = SimpleNamespace(queue=[])
        self.iterations = 0

    def recv_requests(self) -> list[Any]:
        raise AssertionError("the conductor takes its place")

    def event_loop(self) -> None:
        while True:
            self.waiting_queue += self.recv_requests()
            self.iterations += 1


class Transport:
    """Moves nothing."""

    def commands(self) -> dict[str, Any]:
        return {"work": lambda: True}

    def told(self) -> dict[str, Any]:
        return {"queued": 0, "looking": 0, "posted": []}

    def tell_deaths(self) -> None:
        pass


class Output:
    """Keeps what is said."""

    node = 1

    def __init__(self) -> None:
        self.said: list[dict[str, Any]] = []

    def say(self, what: str, **fields: Any) -> None:
        self.said.append({"say": what, **fields})


def conducted(monkeypatch: pytest.MonkeyPatch, commands: list[dict[str, Any]]) -> tuple[Scheduler, Output]:
    """Run the scheduler's loop under these commands, to their end."""

    def leave(_: int) -> None:
        raise Over

    monkeypatch.setattr("os._exit", leave)
    monkeypatch.setattr(requests, "generate", lambda wanted, _: SimpleNamespace(rid=wanted.rid))
    monkeypatch.setattr(requests, "abort", lambda rid: SimpleNamespace(rid=f"abort {rid}"))
    scheduler, output = Scheduler(), Output()
    sizes = SimpleNamespace(available_size=lambda: 8)
    engine = SimpleNamespace(
        scheduler=scheduler,
        allocator=sizes,
        queue=SimpleNamespace(queue=[], req_to_metadata_buffer_idx_allocator=sizes),
    )
    ledger = Ledger(output, 4)  # type: ignore[arg-type]
    options = Options.read({"role": "decode"})
    conductor = Conductor(options, engine, ledger, Transport(), Clock())  # type: ignore[arg-type]
    conductor.install()
    conductor.begin(iter(map(json.dumps, commands)), {"process": 1})
    with pytest.raises(Over):
        scheduler.event_loop()
    return scheduler, output


REQUEST = {"command": "request", "rid": "r0.", "room": 7, "life": [0, 0], "prompt": 8, "max_new": 2}
TICK = {"command": "tick"}


def test_the_scheduler_stands_still_until_it_is_told_to_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    scheduler, output = conducted(monkeypatch, [])
    assert scheduler.iterations == 0
    assert output.said == [{"say": "ready", "process": 1}]


def test_a_request_is_taken_in_by_the_next_iteration(monkeypatch: pytest.MonkeyPatch) -> None:
    scheduler, output = conducted(monkeypatch, [REQUEST, TICK])
    assert scheduler.iterations == 1
    assert [each.rid for each in scheduler.waiting_queue] == ["r0."]
    done = output.said[-1]
    assert done["say"] == "done"
    assert done["state"]["waiting"] == ["r0."]


def test_what_comes_between_two_iterations_comes_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    abort = {"command": "abort", "rid": "r0."}
    scheduler, _ = conducted(monkeypatch, [REQUEST, abort, TICK, TICK])
    assert [each.rid for each in scheduler.waiting_queue] == ["r0.", "abort r0."]
    assert scheduler.iterations == 2


def test_a_command_that_fails_is_answered_and_the_node_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    _, output = conducted(monkeypatch, [{"command": "dance"}, {"command": "work"}])
    assert "KeyError" in output.said[1]["error"]
    assert output.said[2]["result"] is True


def test_options_that_nobody_knows_are_refused() -> None:
    with pytest.raises(UserError, match=r"unknown options \['pags'\]"):
        Options.read({"role": "decode", "pags": 3})
    with pytest.raises(UserError, match="no role"):
        Options.read({})
