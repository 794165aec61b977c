"""What a node says, as JSON on the standard output it was started with: lines of the trace, answers to commands."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from typing import Any, TextIO


class Output:
    """The node's side of the conversation. Lines with `event` are of the trace; those with `say` are for the driver."""

    def __init__(self, node: int, stream: TextIO) -> None:
        self.node = node
        self._stream = stream
        self._lock = threading.Lock()

    def redirect(self, stream: TextIO) -> None:
        """Say everything to somebody else from now on."""
        self._stream = stream

    def event(self, name: str, **fields: Any) -> None:
        """Tell an event of the trace, `docs/trace-schema.md`."""
        self._write({"event": name, **fields, "node": self.node, "clock": round(time.monotonic(), 6)})

    def say(self, what: str, **fields: Any) -> None:
        """Tell the driver something that is no event."""
        self._write({"say": what, **fields})

    def _write(self, line: dict[str, Any]) -> None:
        text = json.dumps(line, separators=(",", ":"), default=str)
        with self._lock:
            self._stream.write(text + "\n")
            self._stream.flush()


def take_standard_output() -> TextIO:
    """Return the standard output for the node alone: whatever the engine prints from now on goes to standard error."""
    own = os.fdopen(os.dup(1), "w", buffering=1 << 16)
    sys.stdout.flush()
    os.dup2(2, 1)
    return own
