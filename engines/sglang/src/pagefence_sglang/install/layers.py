"""Layers: folders of packages, each made by one `pip install --target`, shared by every release that wants the same."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from pagefence_sglang.errors import UserError
from pagefence_sglang.install import stand_in_libraries

if TYPE_CHECKING:
    from pagefence_sglang.releases import Release

# An index that doesn't answer is told of in minutes, not hours.
PATIENCE = ["--timeout", "30", "--retries", "3"]
LIMIT = 1800.0
# Unfinished folders begin so. They are never taken for whole ones.
UNFINISHED = ".unfinished-"


@dataclass(frozen=True)
class Layer:
    """Some packages in a folder of their own."""

    name: str
    packages: tuple[str, ...]
    stand_ins: bool = False

    def make(self, layers: Path) -> bool:
        """Make the layer in the folder `layers` unless it is there; return whether there was something to do."""
        whole = layers / self.name
        if whole.is_dir():
            return False
        layers.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=UNFINISHED, dir=layers) as folder:
            site = Path(folder) / "site"
            _install(self, site)
            if self.stand_ins:
                stand_in_libraries.build(site)
            site.rename(whole)
        return True


def layers_of(release: Release) -> list[Layer]:
    """Return the layers of a release: what it runs with, and itself."""
    base = resources.files("pagefence_sglang").joinpath("base.txt").read_text().split()
    cuda = f"nvidia-cuda-runtime=={release.cuda_runtime}"
    words = (f"torch=={release.torch}", f"triton=={release.triton}", cuda)
    transformers = (
        f"transformers=={release.transformers}",
        f"tokenizers=={release.tokenizers}",
        f"huggingface_hub=={release.huggingface_hub}",
    )
    return [
        Layer(f"sglang-{release.version}", (f"sglang=={release.version}",)),
        Layer(f"transformers-{release.transformers}", transformers),
        Layer(f"torch-{release.torch}", words, stand_ins=True),
        Layer(f"mooncake-{release.mooncake}", (f"mooncake-transfer-engine-non-cuda=={release.mooncake}",)),
        Layer(f"base-{hashlib.sha256(' '.join(base).encode()).hexdigest()[:8]}", tuple(base)),
    ]


def sweep(layers: Path) -> None:
    """Remove what killed installations left."""
    for folder in layers.glob(f"{UNFINISHED}*"):
        shutil.rmtree(folder, ignore_errors=True)


def _install(layer: Layer, site: Path) -> None:
    words = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PATIENCE, "--target", str(site)]
    # Lists are complete as they are: what a package says that it needs may be gigabytes that nothing here touches.
    command = [sys.executable, *words, "--no-deps", *layer.packages]
    # What users have set for their own environments doesn't belong here.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    try:
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=LIMIT, env=environment)
    except subprocess.TimeoutExpired:
        raise UserError(f"{layer.name}: pip has not ended after {LIMIT:.0f} s; run the same command again") from None
    if done.returncode != 0:
        errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or done.stderr.splitlines()[
            -1:
        ]
        raise UserError(f"{layer.name}: pip failed: {' '.join(errors) or 'without a word'}; run the same command again")
