"""Stand-ins for the shared libraries of CUDA that torch is linked against.

The torch of the public index is built for CUDA and needs several gigabytes of libraries to be loaded, none of which
does anything on a CPU. A library with the same name, symbols and versions, whose functions say that they were called
and fail, lets it load.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

# How the symbols of each library begin; those with a version are told apart by it.
PREFIXES = {
    "libcublas": "cublas(?!Lt)",
    "libcublasLt": "cublasLt",
    "libcuda": "cu[A-Z]",
    "libcudnn": "cudnn",
    "libcufft": "cufft",
    "libcufile": "cuFile",
    "libcupti": "cupti",
    "libcurand": "curand",
    "libcusolver": "cusolver",
    "libcusparse": "cusparse(?!Lt)",
    "libcusparseLt": "cusparseLt",
    "libnccl": "nccl",
    "libnvJitLink": "nvJitLink",
    "libnvrtc": "nvrtc",
    "libnvshmem_host": "nvshmem",
}
# The version of this library's symbols doesn't have its name in it.
NVSHMEM = "NVSHMEM"
UNDEFINED = 8  # columns of a line of `readelf --dyn-syms`


@dataclass(frozen=True)
class Symbol:
    """A symbol that torch expects from somebody else."""

    name: str
    version: str
    is_data: bool


def build(site: Path) -> list[str]:
    """Compile what the torch in `site` needs into `site/nvidia/cu13/lib`, where torch looks; return their names."""
    out = site / "nvidia" / "cu13" / "lib"
    out.mkdir(parents=True, exist_ok=True)
    objects = sorted((site / "torch" / "lib").glob("*.so*"))
    wanted = {symbol for each in objects for symbol in undefined(_read(each, "--dyn-syms", "-W"))}
    names = sorted({name for each in objects for name in needed(_read(each, "-d"))})
    built = [name for name in names if stem(name) in PREFIXES and not (out / name).exists()]
    for name in built:
        _compile(name, [symbol for symbol in wanted if belongs(symbol, stem(name))], out)
    return built


def needed(dynamic: str) -> list[str]:
    """Return the libraries that an object needs, from what `readelf -d` printed."""
    return re.findall(r"NEEDED.*\[(.*?)\]", dynamic)


def undefined(symbols: str) -> list[Symbol]:
    """Return the undefined symbols, from what `readelf --dyn-syms -W` printed."""
    found = []
    for line in symbols.splitlines():
        fields = line.split()
        if len(fields) >= UNDEFINED and fields[6] == "UND":
            name, _, version = fields[7].partition("@")
            found.append(Symbol(name, version.lstrip("@"), fields[3] == "OBJECT"))
    return found


def stem(library: str) -> str:
    """Return the name of a library without its version."""
    return library.split(".so", maxsplit=1)[0]


def belongs(symbol: Symbol, library: str) -> bool:
    """Whether `symbol` is one of `library`."""
    if symbol.version:
        own = symbol.version.startswith(f"{library}.so")
        return own or (symbol.version == NVSHMEM and library == "libnvshmem_host")
    return re.match(PREFIXES[library], symbol.name) is not None


def source(symbols: list[Symbol]) -> str:
    """Return the C of a library with these symbols, each of which complains and fails."""
    lines = ["#include <stdio.h>"]
    for symbol in sorted(symbols, key=lambda symbol: symbol.name):
        if symbol.is_data:
            lines.append(f"char {symbol.name}[4096];")
        else:
            told = f'fprintf(stderr, "stand-in for {symbol.name} was called\\n")'
            lines.append(f"int {symbol.name}(void) {{ {told}; return 1; }}")
    return "\n".join(lines) + "\n"


def version_script(symbols: list[Symbol]) -> str:
    """Return the linker's script that gives each symbol its version; empty when none has one."""
    versions = defaultdict(list)
    for symbol in symbols:
        if symbol.version:
            versions[symbol.version].append(symbol.name)
    return "".join(f"{version} {{ global: {'; '.join(sorted(names))}; }};\n" for version, names in versions.items())


def _compile(library: str, symbols: list[Symbol], out: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        code, script = Path(folder) / "library.c", Path(folder) / "library.map"
        code.write_text(source(symbols))
        command = [
            "gcc",
            "-shared",
            "-fPIC",
            "-w",
            "-O0",
            f"-Wl,-soname,{library}",
            "-o",
            str(out / library),
            str(code),
        ]
        versions = version_script(symbols)
        if versions:
            script.write_text(versions)
            command.append(f"-Wl,--version-script={script}")
        subprocess.run(command, check=True)


def _read(library: Path, *options: str) -> str:
    return subprocess.run(["readelf", *options, str(library)], check=True, capture_output=True, text=True).stdout
