from __future__ import annotations

import base64
from types import ModuleType
from typing import Any

import pytest

from pagefence_sglang.node.controlled import wires
from pagefence_sglang.node.controlled.turnstiles import Turnstiles

INFO = [b"17", b"10.0.0.1", b"9000", b"session", b"pages", b"3", b"1", b""]


@pytest.mark.parametrize(
    ("frames", "kind", "room"),
    [
        ([b"None", b"10.0.0.1", b"9000"], "registration", None),
        (INFO, "transfer_info", 17),
        ([b"17", b"4", b"0"], "kv_status", 17),
        ([b"ABORT", b"17", b"10.0.0.1", b"9000"], "abort", 17),
        ([b"ABORT_ACK", b"17", b"0"], "abort_ack", 17),
    ],
)
def test_messages_are_told_apart_by_their_frames(frames: list[bytes], kind: str, room: int | None) -> None:
    assert wires.kind(frames) == kind
    assert wires.room(frames) == room


def test_what_is_pushed_goes_to_the_driver_and_to_nobody_else() -> None:
    said: list[dict[str, Any]] = []

    class Output:
        node = 1

        @staticmethod
        def say(what: str, **fields: Any) -> None:
            said.append({"say": what, **fields})

    real = ModuleType("zmq")
    real.PUSH = 8  # type: ignore[attr-defined]
    zmq = wires.Wires(real, Output(), Turnstiles())  # type: ignore[arg-type]
    socket = zmq.Context().socket(zmq.PUSH)
    socket.connect("tcp://10.0.0.1:9000")
    socket.send_multipart([b"17", b"4", b"0"])
    (message,) = said
    assert message["to"] == "tcp://10.0.0.1:9000"
    assert [base64.b64decode(frame) for frame in message["frames"]] == [b"17", b"4", b"0"]
