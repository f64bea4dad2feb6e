"""A stand-in for torchvision, or another package, where it is missing or does not load beside this torch.

SGLang's package init and its model configs reach for torchvision's image code; attention never calls it.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import sys
from types import ModuleType
from typing import Any


class _Made(type):
    """A class whose attributes are made when asked for, so that enums and transforms of any name exist."""

    def __getattr__(cls, name: str) -> Any:
        return _make(name)


def _make(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return _Made(name, (), {})


class _StubModule(ModuleType):
    __path__: list[str] = []  # a package, so that its submodules are looked for
    __version__ = "0.0.0"  # below every minimum that is asked of it

    def __getattr__(self, name: str) -> Any:
        return _make(name)


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, package: str) -> None:
        self._package = package

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if fullname.split(".")[0] != self._package:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return _StubModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Nothing to run: every name is made when asked for."""


def install_if_needed(package: str = "torchvision") -> None:
    """Leave a package that works alone; otherwise put the stub in its place for this process."""
    try:
        importlib.import_module(package)
    except Exception:  # a build for another torch fails with RuntimeError or OSError, not only ImportError
        for name in [name for name in sys.modules if name.split(".")[0] == package]:
            del sys.modules[name]
        sys.meta_path.insert(0, _Finder(package))
