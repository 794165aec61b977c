"""Where the threads of the engine wait for their turn, one at a time."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

# A thread that does not come to its next turnstile within this has hung, and the driver is told so.
PATIENCE = 30.0


class HungError(RuntimeError):
    """A thread was let go on, and came to no turnstile."""


@dataclass(eq=False)
class Waiting:
    """A thread at a turnstile."""

    place: str
    about: Any
    thread: threading.Thread = field(default_factory=threading.current_thread)
    go: threading.Event = field(default_factory=threading.Event)
    value: Any = None


class Turnstiles:
    """Every turnstile of a node.

    The scheduler's own thread holds the keys: it lets one thread go, and waits until all stand still.
    """

    def __init__(self, patience: float = PATIENCE) -> None:
        self._patience = patience
        self._changed = threading.Condition()
        self._waiting: list[Waiting] = []
        self._moving: set[threading.Thread] = set()
        self._deaths: list[tuple[str, BaseException | None]] = []

    def wait(self, place: str, about: Any = None) -> Any:
        """Stand here until let through; return what the keeper says. Called by a thread of the engine."""
        here = Waiting(place, about)
        with self._changed:
            self._moving.discard(here.thread)
            self._waiting.append(here)
            self._changed.notify_all()
        here.go.wait()
        return here.value

    def waiting(self, place: str) -> list[Waiting]:
        """Return who stands at `place`, the first to come first."""
        with self._changed:
            return [each for each in self._waiting if each.place == place]

    def let_through(self, who: Waiting, value: Any = None) -> None:
        """Let one thread go on, and wait until it and whoever it woke stand still. Raises `HungError`."""
        with self._changed:
            self._waiting.remove(who)
            self._moving.add(who.thread)
            who.value = value
            who.go.set()
            still = self._changed.wait_for(lambda: not self._moving, self._patience)
        if not still:
            raise HungError(
                f"{who.thread.name} went on from `{who.place}` and is not back after {self._patience:.0f} s"
            )

    def expect(self, place: str, count: int) -> None:
        """Wait until `count` threads stand at `place`, as when they have just been started. Raises `HungError`."""
        with self._changed:
            there = self._changed.wait_for(
                lambda: sum(w.place == place for w in self._waiting) >= count, self._patience
            )
        if not there:
            raise HungError(f"{count} threads were to come to `{place}`")

    def watch_deaths(self) -> None:
        """Take note of threads that end in an exception, and wait for them no longer."""
        before = threading.excepthook

        def note(arguments: threading.ExceptHookArgs) -> None:
            with self._changed:
                thread = arguments.thread or threading.current_thread()
                self._deaths.append((thread.name, arguments.exc_value))
                self._moving.discard(thread)
                self._changed.notify_all()
            before(arguments)

        threading.excepthook = note

    def take_deaths(self, tell: Callable[[str, BaseException | None], None]) -> None:
        """Tell of every thread that has died since the last time."""
        with self._changed:
            deaths, self._deaths = self._deaths, []
        for name, error in deaths:
            tell(name, error)
