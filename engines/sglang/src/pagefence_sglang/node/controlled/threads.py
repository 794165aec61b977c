"""The threads of the engine's manager, which are made before the process is forked and have to run behind it."""

from __future__ import annotations

import threading
from typing import Any

# Serves other processes while this one is made, and goes on in the process that was there first.
AT_ONCE = frozenset({"_run_server"})
# Their work is the driver's: it says when prefill does not answer, and which session is tried again.
NEVER = frozenset({"heartbeat_checker", "_failed_session_probe_loop"})


class Threads:
    """The module `threading`, whose threads wait for `start` before they start."""

    def __init__(self) -> None:
        self._later: list[threading.Thread] = []

    def Thread(self, *arguments: Any, **options: Any) -> threading.Thread:  # noqa: N802, the name is threading's
        """Return a thread that starts when it is told to, when all do, or never."""
        name = getattr(options.get("target"), "__name__", "")
        if name in AT_ONCE:
            return threading.Thread(*arguments, **options)
        return _Later(None if name in NEVER else self._later, *arguments, **options)

    def start(self) -> None:
        """Start every thread that was to be started."""
        for thread in self._later:
            threading.Thread.start(thread)
        self._later = []

    def __getattr__(self, name: str) -> Any:
        return getattr(threading, name)


class _Later(threading.Thread):
    def __init__(self, later: list[threading.Thread] | None, *arguments: Any, **options: Any) -> None:
        # A process that is told to end must not wait for a thread at its turnstile.
        super().__init__(*arguments, **{**options, "daemon": True})
        self._wait_in = later

    def start(self) -> None:
        if self._wait_in is not None:
            self._wait_in.append(self)
