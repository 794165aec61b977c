"""Which releases there are, and what each runs with: the data of `releases.toml`."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import resources

from pagefence_sglang.errors import UserError


@dataclass(frozen=True)
class Release:
    """A release of SGLang with the versions of what it runs with."""

    version: str
    torch: str
    triton: str
    transformers: str
    tokenizers: str
    huggingface_hub: str
    mooncake: str
    cuda_runtime: str


def releases() -> list[Release]:
    """Every release that can be installed, oldest first."""
    table = tomllib.loads(resources.files("pagefence_sglang").joinpath("releases.toml").read_text())
    shared = {"mooncake": table["mooncake"], "cuda_runtime": table["cuda_runtime"]}
    return [Release(**row, **shared) for row in table["release"]]


def release(name: str) -> Release:
    """Return the release called `name`, `0.5.22` or `sglang==0.5.22`.

    Raises `UserError`, with the list of known ones, when there is none.
    """
    version = name.removeprefix("sglang==").strip()
    known = {each.version: each for each in releases()}
    if version in known:
        return known[version]
    nearest = get_close_matches(version, known, n=1)
    hint = f"; did you mean sglang=={nearest[0]}?" if nearest else ""
    raise UserError(f"unknown engine `{name}`{hint} Known: {', '.join(f'sglang=={each}' for each in known)}")
