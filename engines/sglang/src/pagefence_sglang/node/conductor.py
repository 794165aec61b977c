"""Who decides when the scheduler goes on: commands of the driver, between the iterations of the engine's own loop.

An iteration reaches from one wait for the GPU to the next. For prefill it begins with the inflight queue, which its
loop looks at last, and ends with the result of a batch; for decode it is one round of its loop.
"""

from __future__ import annotations

import importlib
import json
import os
from typing import TYPE_CHECKING, Any

from pagefence_sglang.node import requests, versions
from pagefence_sglang.node.hooks import rows
from pagefence_sglang.node.hooks.patch import around

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pagefence_sglang.node.clock import Clock
    from pagefence_sglang.node.controlled.transport import Transport
    from pagefence_sglang.node.engine import Engine
    from pagefence_sglang.node.ledger import Ledger
    from pagefence_sglang.node.options import Options


class Conductor:
    """Takes commands until one of them lets the scheduler go on."""

    def __init__(self, options: Options, engine: Engine, ledger: Ledger, transport: Transport, clock: Clock) -> None:
        self._options = options
        self._engine = engine
        self._output = ledger.output
        self._ledger = ledger
        self._transport = transport
        self._clock = clock
        self._incoming: list[Any] = []
        self._lines: Iterator[str] = iter(())
        # What the driver is told when the scheduler first stands still.
        self._ready: dict[str, Any] | None = None
        self._commands: dict[str, Callable[..., Any]] = {
            "request": self._request,
            "abort": self._abort,
            "clock": clock.advance,
            "state": self.state,
            "prefill_fails": self._prefill_fails,
            "resolve": self._resolve,
            "revive": self._revive,
            **transport.commands(),
        }

    def begin(self, lines: Iterator[str], ready: dict[str, Any]) -> None:
        """Take commands from `lines`; the first thing that is said is `ready`."""
        self._lines, self._ready = lines, ready

    def install(self) -> None:
        """Put the gate into the scheduler's loop."""
        scheduler = self._engine.scheduler
        if self._options.role == "prefill":
            versions.intake(scheduler, self._receive)
            around(scheduler, "process_disagg_prefill_inflight_queue", self._at_inflight)
        else:
            versions.intake(scheduler, self._at_intake)

    def state(self) -> dict[str, Any]:
        """Return what is in which queue, and what is free."""
        engine = self._engine
        state = {"free": engine.allocator.available_size(), "rows": rows.allocator(engine).available_size()}
        queues: dict[str, list[Any]] = {"waiting": list(engine.scheduler.waiting_queue)}
        if self._options.role == "prefill":
            queues["bootstrap"] = list(engine.queue.queue)
            queues["inflight"] = list(engine.scheduler.disagg_prefill_inflight_queue)
        else:
            queues["prealloc"] = [each.req for each in engine.queue.queue]
            queues["transfer"] = [each.req for each in engine.scheduler.disagg_decode_transfer_queue.queue]
            queues["running"] = list(engine.scheduler.running_batch.reqs)
        return {**state, **{name: [each.rid for each in queue] for name, queue in queues.items()}}

    def _receive(self) -> list[Any]:
        taken, self._incoming = self._incoming, []
        return taken

    def _at_intake(self) -> list[Any]:
        self._stand()
        return self._receive()

    def _at_inflight(self, original: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        self._stand()
        return original(*arguments, **options)

    def _stand(self) -> None:
        """Stand still, and do as told until told to go on."""
        if self._ready is not None:
            self._output.say("ready", **self._ready)
            self._ready = None
        else:
            self._done({"state": self.state()})
        for line in self._lines:
            command = json.loads(line)
            name = command.pop("command")
            if name == "tick":
                return
            self._done(self._try(name, command))
        # Nobody is there any more.
        os._exit(0)

    def _try(self, name: str, command: dict[str, Any]) -> dict[str, Any]:
        try:
            return {"result": self._commands[name](**command)}
        except Exception as error:  # noqa: BLE001, the driver decides what to make of it
            return {"error": f"{name}: {error!r}"}

    def _done(self, fields: dict[str, Any]) -> None:
        self._transport.tell_deaths()
        self._output.say("done", **fields, transport=self._transport.told())

    def _request(self, **fields: Any) -> None:
        wanted = requests.Wanted(**fields)
        self._ledger.begin(wanted.rid, wanted.life)
        self._incoming.append(requests.generate(wanted, self._options.bootstrap_port))

    def _abort(self, rid: str) -> None:
        self._incoming.append(requests.abort(rid))

    def _resolve(self) -> bool:
        """Let decode learn about prefill now, so that the first request has not to wait for it."""
        address = f"127.0.0.1:{self._options.bootstrap_port}"
        manager = self._engine.manager
        learn = getattr(manager, "try_ensure_parallel_info", None) or manager.ensure_parallel_info
        return bool(learn(address))

    def _revive(self) -> None:
        """Let a probe find that every decode is there: writes to it are no longer refused."""
        manager = self._engine.manager
        with manager.session_lock:
            manager.failed_sessions.clear()
            manager.session_failures.clear()

    def _prefill_fails(self) -> None:
        """Let the heartbeat fail for the last time."""
        address = f"127.0.0.1:{self._options.bootstrap_port}"
        self._engine.manager._handle_node_failure(address)  # noqa: SLF001


def bootstrap_server(options: Options) -> Any:
    """Start prefill's bootstrap server, where decode asks who is there."""
    mooncake = importlib.import_module("sglang.srt.disaggregation.mooncake.conn")
    return mooncake.MooncakeKVBootstrapServer("127.0.0.1", options.bootstrap_port)
