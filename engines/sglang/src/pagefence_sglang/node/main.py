"""From a command line to nodes that wait for commands.

Importing the engine and making a scheduler takes ten seconds, so it is done once: the process that was started makes
everything ready, and each node is a fork of it, with its own memory, that talks to the driver over a socket.
"""

from __future__ import annotations

import faulthandler
import importlib
import json
import os
import resource
import signal
import socket
import sys
import time
import traceback
from dataclasses import dataclass
from typing import Any

from pagefence_sglang.node import clock, collectives, engine, ledger, output
from pagefence_sglang.node.conductor import Conductor, bootstrap_server
from pagefence_sglang.node.controlled.transport import Transport
from pagefence_sglang.node.hooks import answers, forwards, pages, rows
from pagefence_sglang.node.options import Options


@dataclass(frozen=True)
class Node:
    """Everything that a fork has from the start."""

    options: Options
    engine: engine.Engine
    output: output.Output
    transport: Transport
    conductor: Conductor


def run(values: dict[str, Any], *, import_only: bool) -> None:
    """Make a node ready and fork it for each socket that is named on standard input, until that ends."""
    if import_only:
        engine.prepare(None)
        engine.load()
        return
    options = Options.read(values)
    out = output.Output(options.node, output.take_standard_output())
    node = _make(options, out)
    # Forks that have ended are nobody's children.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    # The scheduler calls for its parent when it dies; ours is the driver, who sees that its end of the socket closes.
    signal.signal(signal.SIGQUIT, signal.SIG_IGN)
    # For a node that hangs: its stack goes to standard error.
    faulthandler.register(signal.SIGUSR1)
    for line in sys.stdin:
        if os.fork() == 0:
            _serve(node, json.loads(line)["socket"])


def _make(options: Options, out: output.Output) -> Node:
    began = time.monotonic()
    engine.prepare(options)
    scheduler_module = engine.load()
    imported = time.monotonic()
    books = ledger.Ledger(out, options.page_size)
    time_of_engine = clock.Clock()
    missing = [f"clock: {name}" for name in clock.install(time_of_engine)]
    transport = Transport(options, out, books)
    transport.install()
    server = bootstrap_server(options) if options.role == "prefill" else None
    made = engine.start(options, scheduler_module)
    collectives.install(importlib.import_module("torch.distributed"))
    missing += pages.install(made, books) + rows.install(made, books, options) + forwards.install(made, books)
    answers.install(made, out)
    conductor = Conductor(options, made, books, transport, time_of_engine)
    conductor.install()
    out.say(
        "made",
        version=made.version,
        missing=missing,
        free=made.allocator.available_size(),
        rows=rows.allocator(made).available_size(),
        longest_prompt=made.scheduler.max_req_input_len,
        import_seconds=round(imported - began, 2),
        start_seconds=round(time.monotonic() - imported, 2),
        memory_mb=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        bootstrap_server=server is not None,
    )
    return Node(options, made, out, transport, conductor)


def _serve(node: Node, path: str) -> None:
    """Be a node, and never return."""
    try:
        wire = socket.socket(socket.AF_UNIX)
        wire.connect(path)
        node.output.redirect(wire.makefile("w", encoding="utf-8"))
        node.conductor.begin(wire.makefile("r", encoding="utf-8"), node.transport.attach(node.engine))
        getattr(node.engine.scheduler, f"event_loop_normal_disagg_{node.options.role}")()
    except BaseException as error:  # noqa: BLE001, whatever it died of is what is to be told
        traceback.print_exc()
        node.output.say("crashed", error=repr(error), trace=traceback.format_exc()[-2000:])
    os._exit(1)
