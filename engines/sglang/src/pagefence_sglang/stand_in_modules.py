"""Stand-ins for modules that SGLang imports, and that nothing on the way of a page uses on a CPU.

They come last on Python's path of finders, so that a module that is really installed wins.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MODULES = frozenset(
    {"compressed_tensors", "gguf", "prometheus_client", "sgl_kernel", "torchvision", "tvm_ffi", "xgrammar"}
)


class _StandInType(type):
    """Classes whose every attribute is another such class."""

    def __getattr__(cls, name: str) -> Any:
        if _is_special(name):
            raise AttributeError(name)
        return _stand_in(name)


class _StandIn:
    """Takes any arguments, has any attribute, may decorate anything, is an empty iterable."""

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        decorates = len(arguments) == 1 and callable(arguments[0]) and not options
        return arguments[0] if decorates else _stand_in("result")

    def __getattr__(self, name: str) -> Any:
        if _is_special(name):
            raise AttributeError(name)
        return _stand_in(name)()

    def __class_getitem__(cls, _: Any) -> Any:
        return cls

    def __or__(self, _: Any) -> Any:
        return self

    def __ror__(self, _: Any) -> Any:
        return self

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    @classmethod
    def __get_pydantic_core_schema__(cls, *_: Any, **__: Any) -> Any:
        # Some are the types of fields of pydantic models.
        from pydantic_core import core_schema  # noqa: PLC0415, comes with the engine

        return core_schema.any_schema()


class _StandInModule(types.ModuleType):
    def __getattr__(self, name: str) -> Any:
        if _is_special(name):
            raise AttributeError(name)
        value = _stand_in(name)
        setattr(self, name, value)
        return value


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the stand-in for each of `MODULES` and whatever is in it."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Say that the stand-in is a package, so that anything can be imported from it."""
        del path, target
        if fullname.split(".", maxsplit=1)[0] in MODULES:
            return importlib.machinery.ModuleSpec(fullname, self, is_package=True)
        return None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        """Make the module. Versions of it are compared now and then, and no requirement is to fail."""
        module = _StandInModule(spec.name)
        module.__path__ = []
        module.__file__ = "<stand-in>"
        module.__dict__["__version__"] = "99.0.0"
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        """Nothing is to be done."""


def install() -> None:
    """Put the stand-ins in place, once."""
    if not any(isinstance(finder, Finder) for finder in sys.meta_path):
        sys.meta_path.append(Finder())


def _is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def _stand_in(name: str) -> Any:
    return _StandInType(name, (_StandIn,), {})
