"""What an installation needs from the system, checked before anything is fetched."""

from __future__ import annotations

import ctypes
import shutil
import sys
from typing import TYPE_CHECKING

from pagefence_sglang.errors import UserError

if TYPE_CHECKING:
    from pathlib import Path

# Mooncake's engine is linked against the verbs libraries, even where it only speaks TCP.
LIBRARIES = {"libibverbs.so.1": "libibverbs1 ibverbs-providers", "librdmacm.so.1": "librdmacm1"}
# The stand-in libraries are compiled, from the symbols that torch asks for.
PROGRAMS = {"gcc": "gcc", "readelf": "binutils"}
# A release with its layers takes 2.7 GB; pip keeps what it has fetched beside it while it unpacks.
ROOM = 5 << 30
GIB = 1 << 30
OLDEST = (3, 11)


def check(home: Path) -> None:
    """Raise `UserError` with the exact remedy when something is missing."""
    # The interpreter is the user's; what the package says of itself nobody has checked.
    if sys.version_info[:2] < OLDEST:
        raise UserError(
            f"Python 3.11 or newer is needed, this is {sys.version.split()[0]}: name one in PAGEFENCE_PYTHON"
        )
    packages = [package for library, package in LIBRARIES.items() if not _loads(library)]
    packages += [package for program, package in PROGRAMS.items() if shutil.which(program) is None]
    if packages:
        line = f"apt-get install -y --no-install-recommends {' '.join(packages)}"
        raise UserError(f"the system lacks libraries or programs that the engine needs: {line}")
    home.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(home).free
    if free < ROOM:
        raise UserError(f"{home}: {free / GIB:.1f} GiB are free, and an installation needs {ROOM / GIB:.0f}")


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True
