"""Whether compiled files can be loaded beside the torch that is installed: every C++ symbol they ask of it must be there.

That is what an import finds out by "undefined symbol", without importing anything, and whatever the versions say.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from backends.condition import Linked
from backends.worker.doctor.elf import NotReadable, SharedObject
from backends.worker.doctor.packages import Package

LIBRARY = re.compile(r"lib(c10|torch)(_\w+)?\.so")  # libc10.so, libc10_cuda.so, libtorch_cpu.so, ...
# What only torch can have: members of its C++ namespaces, and the functions of its stable C interface.
SYMBOL = re.compile(r"_Z(N|T[ISV]N)[KVR]*(2at|3c10|5torch|6caffe2)|aoti_torch_")
MOST_NAMED = 3


def checked(packages: Iterable[Package]) -> tuple[Linked, ...]:
    """One for each of ``packages`` of which at least one file links to torch; nothing without torch."""
    torch = _torch_libraries()
    found = (_checked(package, torch) for package in packages if torch)
    return tuple(linked for linked in found if linked is not None)


def _torch_libraries() -> dict[str, SharedObject]:
    spec = importlib.util.find_spec("torch")
    folder = Path(spec.origin).with_name("lib") if spec and spec.origin else None
    return {file.name: library for file, library in _readable(folder.glob("lib*.so*"))} if folder else {}


def _checked(package: Package, torch: dict[str, SharedObject]) -> Linked | None:
    try:
        return _linked(package, torch)
    except NotReadable:  # cut short where the symbols are: no claim
        return None


def _linked(package: Package, torch: dict[str, SharedObject]) -> Linked | None:
    compiled = _readable(package.folder / path for path in package.files if path.endswith(".so"))
    files = {file.relative_to(package.folder).as_posix(): library for file, library in compiled}
    linking = {name: file for name, file in files.items() if any(map(LIBRARY.fullmatch, file.needed))}
    for name, file in sorted(linking.items()):
        if missing := missing_in(file, torch, files):
            return Linked(package.name, len(linking), name, missing[:MOST_NAMED])
    return Linked(package.name, len(linking)) if linking else None


def missing_in(file: SharedObject, torch: dict[str, SharedObject], beside: dict[str, SharedObject]) -> tuple[str, ...]:
    """Libraries of torch that ``file`` needs and ``torch`` lacks; when it has them all, the symbols it lacks."""
    libraries = tuple(name for name in file.needed if LIBRARY.fullmatch(name) and name not in torch)
    known = (*torch.values(), *beside.values())
    return libraries or tuple(name for name in file.undefined() if SYMBOL.match(name) and not any(each.defines(name) for each in known))


def _readable(files: Iterable[Path]) -> Iterator[tuple[Path, SharedObject]]:
    for file in files:
        try:
            yield file, SharedObject(file)
        except NotReadable:  # a linker script, or of another machine: no claim
            continue
