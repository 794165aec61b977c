"""How methods of the engine are wrapped."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

# Called with the original, and what it was called with; returns what is to be returned.
Around = "Callable[..., Any]"


def around(owner: Any, name: str, hook: Callable[..., Any]) -> bool:
    """Put `hook` around a method or function of `owner`; return whether `owner` has it.

    On a class the first argument after the original is the object.
    """
    original = getattr(owner, name, None)
    if original is None:
        return False

    @functools.wraps(original)
    def wrapped(*arguments: Any, **options: Any) -> Any:
        return hook(original, *arguments, **options)

    setattr(owner, name, wrapped)
    return True
