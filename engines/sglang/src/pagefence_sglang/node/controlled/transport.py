"""Puts the engine's transport under control, before its manager is made and after."""

from __future__ import annotations

import base64
import importlib
import os
import threading
from typing import TYPE_CHECKING, Any, ClassVar

from pagefence_sglang.node.controlled import memory
from pagefence_sglang.node.controlled.threads import Threads
from pagefence_sglang.node.controlled.turnstiles import Turnstiles
from pagefence_sglang.node.controlled.wires import LISTENER, Wires
from pagefence_sglang.node.controlled.writes import Buffers, Peer, Writes
from pagefence_sglang.node.ledger import KV_PAGE, METADATA_ROW

if TYPE_CHECKING:
    from pagefence_sglang.node.engine import Engine
    from pagefence_sglang.node.ledger import Ledger
    from pagefence_sglang.node.options import Options
    from pagefence_sglang.node.output import Output

# A worker before it takes a chunk, and before it looks at the chunk's room.
WORKER, LOOK = "worker", "look"


class Transport:
    """What the driver moves: messages, workers, writes."""

    def __init__(self, options: Options, output: Output, ledger: Ledger) -> None:
        self._prefill = options.role == "prefill"
        self._output = output
        self._turnstiles = Turnstiles()
        self._threads = Threads()
        self.writes = Writes(output, ledger, self._turnstiles)

    def install(self) -> None:
        """Take the place of what the manager will be made with. To be called before the scheduler is made."""
        self._turnstiles.watch_deaths()
        common: Any = importlib.import_module("sglang.srt.disaggregation.common.conn")
        mooncake: Any = importlib.import_module("sglang.srt.disaggregation.mooncake.conn")
        wires = Wires(importlib.import_module("zmq"), self._output, self._turnstiles)
        common.zmq = wires
        common.get_zmq_socket_on_host = wires.socket_on_host
        # Made when its class was.
        common.CommonKVReceiver._ctx = wires.Context()  # noqa: SLF001
        mooncake.get_mooncake_transfer_engine = lambda: self.writes
        mooncake.FastQueue = _queue_of(self._turnstiles)
        for module in (common, mooncake):
            module.threading = self._threads

    def attach(self, engine: Engine) -> dict[str, Any]:
        """Start the threads, and wait until each is at its turnstile; return what peers must know of this process."""
        arguments = engine.manager.kv_args
        kv = Buffers(KV_PAGE, *(list(map(int, each)) for each in _kv(arguments)))
        aux = Buffers(METADATA_ROW, *(list(map(int, each)) for each in _aux(arguments)))
        self.writes.know([kv, aux])
        memory.open_to_writes()
        # Releases before 0.5.20 don't count chunks, and don't look.
        if self._prefill and hasattr(engine.manager, "_staging_outstanding"):
            _look_before(engine.manager, self._turnstiles)
        self._threads.start()
        if self._prefill:
            self._turnstiles.expect(WORKER, 1)
        self._turnstiles.expect(LISTENER, 1)
        return {
            "process": os.getpid(),
            "session": self.writes.get_session_id(),
            "buffers": [vars(kv), vars(aux)],
        }

    def commands(self) -> dict[str, Any]:
        """Return what the driver can say, by name."""
        return {
            "peer": self._peer,
            "deliver": self._deliver,
            "work": self._work,
            "land": self.writes.land,
            "report": self.writes.report,
            "settle": self.writes.settle,
        }

    def told(self) -> dict[str, Any]:
        """Return how the transport stands: who waits where."""
        waiting = self._turnstiles.waiting(WORKER)
        queued = sum(len(each.about) for each in waiting)
        posted = [each.about for each in self._turnstiles.waiting("posted")]
        return {"queued": queued, "looking": len(self._turnstiles.waiting(LOOK)), "posted": posted}

    def tell_deaths(self) -> None:
        """Tell of threads that have died of their own error."""
        self._turnstiles.take_deaths(lambda name, error: self._output.say("died", thread=name, error=repr(error)))

    def _peer(self, node: int, process: int, session: str, buffers: list[dict[str, Any]]) -> None:
        self.writes.know_peer(session, Peer(node, process, [Buffers(**each) for each in buffers]))

    def _deliver(self, frames: list[str]) -> None:
        listener = self._turnstiles.waiting(LISTENER)[0]
        self._turnstiles.let_through(listener, [base64.b64decode(frame) for frame in frames])

    def _work(self) -> bool:
        """Let the worker go on: to take a chunk, or to look at its room. Returns whether it could."""
        for place in (LOOK, WORKER):
            for worker in self._turnstiles.waiting(place):
                if place == LOOK or worker.about:
                    self._turnstiles.let_through(worker)
                    return True
        return False


def _kv(arguments: Any) -> tuple[Any, Any, Any]:
    return arguments.kv_data_ptrs, arguments.kv_item_lens, arguments.kv_data_lens


def _aux(arguments: Any) -> tuple[Any, Any, Any]:
    return arguments.aux_data_ptrs, arguments.aux_item_lens, arguments.aux_data_lens


def _queue_of(turnstiles: Turnstiles) -> type:
    """Return a queue of chunks at which a worker waits for its turn."""

    class Queue:
        def __init__(self) -> None:
            self._chunks: list[Any] = []

        def put(self, chunk: Any) -> None:
            self._chunks.append(chunk)

        def get(self) -> Any:
            turnstiles.wait(WORKER, self._chunks)
            _Looks.due.add(threading.current_thread())
            return self._chunks.pop(0)

    return Queue


class _Looks:
    """Workers that have taken a chunk and not looked at its room yet."""

    due: ClassVar[set[threading.Thread]] = set()


def _look_before(manager: Any, turnstiles: Turnstiles) -> None:
    """Make a worker wait before it looks at the room of a chunk that it has counted: an ABORT may come between.

    The table is asked whether it has the room.
    """

    class Table(dict):  # type: ignore[type-arg]
        def __contains__(self, room: object) -> bool:
            thread = threading.current_thread()
            if thread in _Looks.due:
                _Looks.due.discard(thread)
                turnstiles.wait(LOOK, room)
            return super().__contains__(room)

    manager.request_status = Table(manager.request_status)
