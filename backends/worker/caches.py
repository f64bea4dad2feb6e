"""Where libraries keep the kernels they compile: what the image has is read, what we compile lies apart.

An entry of Triton's and of Inductor's cache is named after its contents, so it is as good elsewhere: links to the image's
files stand in a folder of ours, which is where new ones are written (both replace files whole and never write into one).
FlashInfer, tvm-ffi and torch's extensions build with ninja, whose log holds absolute paths: elsewhere everything is built
again. What they have built already is used where it lies, and added to, as the server would; where there is nothing yet, or
nothing may be written, they build in a folder of ours.
Sources: triton/runtime/cache.py 3.6, torch/_inductor/runtime/cache_dir_utils.py 2.13, flashinfer/jit/{env,core,cpp_ext}.py 0.6.14.
"""

from __future__ import annotations

import os
import pathlib
from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass
from functools import cache

from backends.worker import home

MOST_LINKS = 50_000  # a second of linking; what is beyond is compiled again
APART = "ATTNPIN_CACHES_APART"  # names a side of a comparison, whose kernels are compiled and kept by themselves
PASSING = ("tmp.", "lock")  # beginnings of names of what is no entry: temporary folders, locks


@dataclass(frozen=True)
class Library:
    """``variable`` names its cache, or a folder in which the cache is ``inside``; ``usual`` is that folder without it, below
    the home (which ``home`` may name); None = nowhere that could be the image's. ``file_is_lock``: whoever builds there waits for
    as long as a file named lock is there, so that one which a killed build left holds up everybody."""

    variable: str
    usual: str | None
    inside: str = "."
    home: str = "HOME"
    movable: bool = False
    file_is_lock: bool = False

    def place(self, environ: MutableMapping[str, str]) -> pathlib.Path | None:
        if named := environ.get(self.variable):
            return pathlib.Path(os.path.expanduser(named), self.inside).absolute()
        above = environ.get(self.home) or environ.get("HOME") or os.path.expanduser("~")
        return None if self.usual is None or not os.path.isabs(above) else pathlib.Path(above, self.usual, self.inside)


COMPILED = "TORCHINDUCTOR_CACHE_DIR"
LIBRARIES = (
    Library("TRITON_CACHE_DIR", ".triton/cache", home="TRITON_HOME", movable=True),
    Library(COMPILED, None, movable=True),
    Library("FLASHINFER_WORKSPACE_BASE", ".", inside=".cache/flashinfer", file_is_lock=True),
    Library("TVM_FFI_CACHE_DIR", ".cache/tvm-ffi"),
    Library("TORCH_EXTENSIONS_DIR", ".cache/torch_extensions", file_is_lock=True),
)


@dataclass(frozen=True)
class Places:
    """``own`` is where this account's workers build, ``theirs`` are the caches of the environment they run in; ``compiled``
    are those of torch.compile among both."""

    own: pathlib.Path
    theirs: tuple[pathlib.Path, ...]
    compiled: tuple[pathlib.Path, ...] = ()


@cache
def arranged() -> Places:
    """`arrange` for this process, once: before HOME is replaced, and before a library that compiles is imported."""
    side = os.environ.get(APART)
    return arrange(os.environ, home.scratch() / "apart" / side if side else home.scratch(), apart=bool(side))


def arrange(environ: MutableMapping[str, str], own: pathlib.Path, apart: bool = False) -> Places:
    """Set the variables of all caches that cannot or need not be used where they lie; returns where they lay. ``apart``: none is
    used where it lies, and nothing of theirs stands in ours."""
    theirs, before = [], environ.get(COMPILED)
    for library in LIBRARIES:
        there, mine = library.place(environ), own / library.variable.lower()
        if apart or library.movable or there is None or not home.writable(there) or not _has_built(there):
            environ[library.variable] = str(mine)
        if there is not None and own not in there.parents and not apart:
            theirs.append(there)
            if library.movable:
                link(there, mine)
    compiled = (named for named in (own / COMPILED.lower(), before) if named)
    return Places(own, tuple(theirs), tuple(map(pathlib.Path, compiled)))


def _has_built(cache: pathlib.Path) -> bool:
    return next(cache.rglob("*.so"), None) is not None


def link(source: pathlib.Path, target: pathlib.Path) -> None:
    """Stand a link in ``target`` for every file of ``source`` that it lacks; what cannot be read or linked is left out."""
    for count, file in enumerate(_entries(source)):
        if count == MOST_LINKS:
            return
        copy = target / file.relative_to(source)
        try:
            copy.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not os.path.lexists(copy):
                copy.symlink_to(file)
        except OSError:  # the disk is full, or another worker was faster
            continue


def _entries(source: pathlib.Path) -> Iterator[pathlib.Path]:
    for folder, inner, names in os.walk(source):
        inner[:] = [name for name in inner if not name.startswith(PASSING)]
        yield from (pathlib.Path(folder, name) for name in names if not name.startswith(PASSING) and not name.endswith(".lock"))
