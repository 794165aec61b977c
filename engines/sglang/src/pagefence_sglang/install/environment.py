"""Installed releases: made whole or not at all, listed, removed."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pagefence_sglang.errors import UserError
from pagefence_sglang.install import system
from pagefence_sglang.install.layers import layers_of, sweep

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pagefence_sglang.releases import Release

# Importing takes 6 to 20 s on two cores.
IMPORT_LIMIT = 300.0


@dataclass(frozen=True)
class Installed:
    """A release that is there, with the folders of its PYTHONPATH."""

    version: str
    layers: tuple[str, ...]

    def python_path(self, home: Path) -> str:
        """Return its PYTHONPATH, the stand-ins for modules included."""
        package = Path(__file__).parents[2]
        return os.pathsep.join([str(package), *(str(home / "layers" / layer) for layer in self.layers)])


def install(release: Release, home: Path, say: Callable[[str], None]) -> None:
    """Make an environment for `release`, telling `say` of every step. What is there already is kept."""
    system.check(home)
    with _alone(home):
        sweep(home / "layers")
        layers = layers_of(release)
        steps = len(layers) + 1
        for number, layer in enumerate(layers, 1):
            say(f"[{number}/{steps}] {layer.name} ...")
            began = time.monotonic()
            made = layer.make(home / "layers")
            say(f"[{number}/{steps}] {layer.name}: {_took(began) if made else 'is there'}")
        installed = Installed(release.version, tuple(layer.name for layer in layers))
        say(f"[{steps}/{steps}] importing the engine")
        _try(installed, home)
        _record(home, release.version).parent.mkdir(exist_ok=True)
        _write(_record(home, release.version), json.dumps({"version": release.version, "layers": installed.layers}))
    say(f"sglang=={release.version} is installed in {home}")


def installed(home: Path) -> list[Installed]:
    """Return what is installed."""
    records = sorted((home / "releases").glob("*.json"))
    read = [json.loads(record.read_text()) for record in records]
    return [Installed(each["version"], tuple(each["layers"])) for each in read]


def find(version: str, home: Path) -> Installed:
    """Return an installed release. Raises `UserError`, with the command that installs it, when it is not there."""
    for each in installed(home):
        if each.version == version:
            return each
    raise UserError(f"sglang=={version} is not installed: pagefence engine install sglang=={version}")


def remove(version: str, home: Path) -> list[str]:
    """Remove a release, and the layers that no other release has; return their names."""
    with _alone(home):
        gone = find(version, home)
        _record(home, version).unlink()
        kept = {layer for each in installed(home) for layer in each.layers}
        unused = [layer for layer in gone.layers if layer not in kept]
        for layer in unused:
            shutil.rmtree(home / "layers" / layer)
    return unused


def _took(began: float) -> str:
    return f"made in {time.monotonic() - began:.0f} s"


def _try(installed: Installed, home: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": installed.python_path(home)}
    command = [sys.executable, "-m", "pagefence_sglang", "node", "--import-only"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=IMPORT_LIMIT, env=environment)
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["without a word"])[-1]
        raise UserError(f"sglang=={installed.version} was fetched, but can't be imported: {last}")


def _record(home: Path, version: str) -> Path:
    return home / "releases" / f"{version}.json"


def _write(path: Path, text: str) -> None:
    draft = path.with_suffix(".draft")
    draft.write_text(text)
    draft.replace(path)


@contextmanager
def _alone(home: Path) -> Iterator[None]:
    """Keep other installations out meanwhile; whoever is killed lets go."""
    home.mkdir(parents=True, exist_ok=True)
    with (home / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(f"{home}: another installation is under way") from None
        yield
