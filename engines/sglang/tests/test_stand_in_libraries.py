import ctypes
import shutil
from pathlib import Path

import pytest

from pagefence_sglang.install import stand_in_libraries as stand_ins
from pagefence_sglang.install.stand_in_libraries import Symbol

DYNAMIC = """
 0x0000000000000001 (NEEDED)             Shared library: [libcudart.so.13]
 0x0000000000000001 (NEEDED)             Shared library: [libcublas.so.13]
 0x000000000000000e (SONAME)             Library soname: [libtorch_cuda.so]
"""
SYMBOLS = """
Symbol table '.dynsym' contains 4 entries:
   Num:    Value          Size Type    Bind   Vis      Ndx Name
     1: 0000000000000000     0 FUNC    GLOBAL DEFAULT  UND cublasCreate_v2@libcublas.so.13 (2)
     2: 0000000000000000     0 OBJECT  GLOBAL DEFAULT  UND cufftTable
     3: 0000000000001000    16 FUNC    GLOBAL DEFAULT   12 ours
"""


def test_libraries_and_symbols_are_read_from_what_readelf_prints() -> None:
    assert stand_ins.needed(DYNAMIC) == ["libcudart.so.13", "libcublas.so.13"]
    symbols = stand_ins.undefined(SYMBOLS)
    assert symbols == [
        Symbol("cublasCreate_v2", "libcublas.so.13", is_data=False),
        Symbol("cufftTable", "", is_data=True),
    ]


def test_a_symbol_belongs_to_one_library() -> None:
    light = Symbol("cublasLtCreate", "", is_data=False)
    assert [name for name in stand_ins.PREFIXES if stand_ins.belongs(light, name)] == ["libcublasLt"]
    versioned = Symbol("cublasLtCreate", "libcublas.so.13", is_data=False)
    assert [name for name in stand_ins.PREFIXES if stand_ins.belongs(versioned, name)] == ["libcublas"]
    driver = Symbol("cuInit", "", is_data=False)
    assert [name for name in stand_ins.PREFIXES if stand_ins.belongs(driver, name)] == ["libcuda"]


@pytest.mark.skipif(shutil.which("gcc") is None, reason="an installation says that it needs gcc")
def test_a_stand_in_loads_and_its_functions_fail(tmp_path: Path) -> None:
    symbols = [Symbol("cufftDestroy", "libcufft.so.12", is_data=False), Symbol("cufftTable", "", is_data=True)]
    stand_ins._compile("libcufft.so.12", symbols, tmp_path)  # noqa: SLF001
    library = ctypes.CDLL(str(tmp_path / "libcufft.so.12"))
    assert library.cufftDestroy() == 1
    assert ctypes.c_char.in_dll(library, "cufftTable").value == b"\0"
