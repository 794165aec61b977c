"""What a node is told when it starts."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, Literal

from pagefence_sglang.errors import UserError

Role = Literal["prefill", "decode"]


@dataclass(frozen=True)
class Options:
    """The size of a node, its timers, and what is under control. Lengths are in tokens unless they say pages."""

    role: Role
    # The number of this node in the trace.
    node: int = 0
    page_size: int = 4
    # The KV pool.
    pages: int = 64
    # The longest prompt that validation accepts.
    longest_prompt: int = 256
    # Chunked prefill.
    chunk: int = 8192
    metadata_rows: int = 8
    # The prefix cache of prefill. Without it pages are free as soon as their request is done.
    prefix_cache: bool = False
    # Where prefill's bootstrap server listens.
    bootstrap_port: int = 8998
    # Where the engine's own processes would find each other.
    group_port: int = 28_998
    # Further environment variables of the engine: its timers.
    environment: dict[str, str] = field(default_factory=dict)

    @staticmethod
    def read(values: dict[str, Any]) -> Options:
        """Return the options in `values`. Raises `UserError` when one is unknown, or `role` is missing."""
        known = {each.name for each in fields(Options)}
        unknown = sorted(set(values) - known)
        if unknown or "role" not in values:
            raise UserError(f"node: unknown options {unknown}" if unknown else "node: no role")
        return Options(**values)
