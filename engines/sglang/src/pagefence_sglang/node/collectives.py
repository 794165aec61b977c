"""Collectives of a group of one rank, which have nothing to do.

The engine's go through threads that a fork does not have, and would wait for them for ever.
"""

from __future__ import annotations

from typing import Any


def install(distributed: Any) -> None:
    """Let the collectives in `torch.distributed` return at once."""
    for name in ("all_reduce", "broadcast", "broadcast_object_list", "barrier", "reduce"):
        setattr(distributed, name, _nothing)
    distributed.all_gather_object = _gather_object
    distributed.all_gather_into_tensor = _gather_into
    distributed.all_gather = _gather


def _nothing(*_: Any, **__: Any) -> None:
    """Every rank there is has it already."""


def _gather_object(all_of_them: list[Any], mine: Any, *_: Any, **__: Any) -> None:
    all_of_them[0] = mine


def _gather_into(all_of_them: Any, mine: Any, *_: Any, **__: Any) -> None:
    all_of_them.copy_(mine)


def _gather(all_of_them: list[Any], mine: Any, *_: Any, **__: Any) -> None:
    all_of_them[0].copy_(mine)
