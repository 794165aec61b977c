"""Sockets between nodes that the driver carries by hand.

They take the place of `zmq` in the modules of the engine that speak to other nodes. What is pushed is told to the
driver and goes nowhere; what the driver delivers is pulled by the engine's listener.
"""

from __future__ import annotations

import base64
import itertools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import ModuleType

    from pagefence_sglang.node.controlled.turnstiles import Turnstiles
    from pagefence_sglang.node.output import Output

LISTENER = "listener"
# Every node has an address of its own, and none is of a real socket.
HOST = "127.0.0.1"


class Wires:
    """The module `zmq`, as far as nodes speak to each other with it; everything else is the real one."""

    def __init__(self, real: ModuleType, output: Output, turnstiles: Turnstiles) -> None:
        self._real = real
        self._output = output
        self._turnstiles = turnstiles
        self._ports = itertools.count(20_000 + 1_000 * output.node)

    def Context(self, *_: Any, **__: Any) -> _Context:  # noqa: N802, the name is zmq's
        """Return a context whose sockets are these."""
        return _Context(self)

    def socket_on_host(self, *_: Any, **__: Any) -> tuple[int, _Socket]:
        """Stand in for `get_zmq_socket_on_host`: a listening socket and its port."""
        return next(self._ports), _Socket(self)

    def push(self, endpoint: str, frames: list[bytes]) -> None:
        """Tell the driver of a message."""
        told = [base64.b64encode(bytes(frame)).decode("ascii") for frame in frames]
        self._output.say("message", kind=kind(frames), room=room(frames), to=endpoint, frames=told)

    def pull(self) -> list[bytes]:
        """Wait for the driver to deliver a message."""
        frames: list[bytes] = self._turnstiles.wait(LISTENER)
        return frames

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


class _Context:
    def __init__(self, wires: Wires) -> None:
        self._wires = wires

    def socket(self, *_: Any, **__: Any) -> _Socket:
        return _Socket(self._wires)

    def set(self, *_: Any) -> None:
        """Take an option, which means nothing here."""


class _Socket:
    def __init__(self, wires: Wires) -> None:
        self._wires = wires
        self._endpoint = ""

    def connect(self, endpoint: str) -> None:
        self._endpoint = endpoint

    def send_multipart(self, frames: list[bytes], *_: Any, **__: Any) -> None:
        self._wires.push(self._endpoint, frames)

    def recv_multipart(self, *_: Any, **__: Any) -> list[bytes]:
        return self._wires.pull()

    def get_monitor_socket(self, *_: Any) -> None:
        """Say that there is none: nobody disconnects."""

    def setsockopt(self, *_: Any) -> None:
        """Take an option, which means nothing here."""

    def close(self, *_: Any, **__: Any) -> None:
        """There is nothing to close."""


TAGS = {b"ABORT": "abort", b"ABORT_ACK": "abort_ack", b"AUX_DATA": "aux_data", b"None": "registration"}
# TransferInfo has eight frames at least, a status three or four.
TRANSFER_INFO = 6


def kind(frames: list[bytes]) -> str:
    """Return what a message is: registration, transfer_info, kv_status, abort, abort_ack or aux_data."""
    tag = bytes(frames[0])
    return TAGS.get(tag) or ("transfer_info" if len(frames) >= TRANSFER_INFO else "kv_status")


def room(frames: list[bytes]) -> int | None:
    """Return the room that a message is about; a registration is about none."""
    at = 0 if kind(frames) in {"transfer_info", "kv_status"} else 1
    text = bytes(frames[at])
    return int(text) if text.isdigit() else None
