"""A clock that only moves when the driver says so, for the modules of the engine that keep deadlines."""

from __future__ import annotations

import importlib
import time
from typing import Any

MODULES = (
    "sglang.srt.disaggregation.decode",
    "sglang.srt.disaggregation.prefill",
    "sglang.srt.disaggregation.common.conn",
    "sglang.srt.disaggregation.mooncake.conn",
)


class Clock:
    """Stands in for the module `time`: the engine's deadlines are kept on it, everything else is the real one."""

    def __init__(self) -> None:
        self._at = 1_000_000.0

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self._at += seconds

    def time(self) -> float:
        """Return seconds."""
        return self._at

    monotonic = perf_counter = time

    def __getattr__(self, name: str) -> Any:
        return getattr(time, name)


def install(clock: Clock) -> list[str]:
    """Put `clock` into every module that keeps deadlines; return those of this release that have none."""
    missing = []
    for name in MODULES:
        module = importlib.import_module(name)
        if hasattr(module, "time"):
            module.time = clock  # type: ignore[attr-defined]
        else:
            missing.append(name)
    return missing
