"""Which installed distribution an import name comes from, and a digest of what it installed."""

from __future__ import annotations

import csv
import hashlib
import importlib.metadata
import importlib.util
import pathlib
import re
from collections.abc import Iterator, Sequence
from functools import cache

from backends.environment import Distribution

# Installed apart, but part of what the import name runs. Source: each project's Requires-Dist and its loader of prebuilt kernels.
COMPANIONS: dict[str, tuple[str, ...]] = {
    "flashinfer": ("flashinfer-cubin", "flashinfer-jit-cache", "nvidia-cutlass-dsl", "apache-tvm-ffi"),
    "flash_attn": ("nvidia-cutlass-dsl", "apache-tvm-ffi", "quack-kernels"),
    "sglang": ("sglang-kernel", "sgl-kernel", "triton", "nvidia-cutlass-dsl", "apache-tvm-ffi"),
    "torch": ("triton",),
}
INSTALLER_FILES = frozenset({"INSTALLER", "REQUESTED", "RECORD", "direct_url.json", "uv_cache.json", "uv_build.json"})
SKIPPED_FOLDERS = frozenset({"__pycache__", ".git"})
UNKNOWN_VERSION = "unversioned"


def owned_by(imports: Sequence[str]) -> tuple[tuple[str, Distribution], ...]:
    """(import name, distribution) for every installed one of ``imports`` and its companions; the first on sys.path wins.

    A name may have several pairs, its owner's last: dict() of the pairs gives the owner, all of them what a change may touch.
    Nothing is imported. A package that no distribution's RECORD lists (a source tree, an editable install) is entered
    with a digest over its files.
    """
    pairs = ((name, each) for name in dict.fromkeys(imports) for each in _companions(name) + _owners(name))
    return tuple(dict.fromkeys(pairs))


def version(name: str) -> str | None:
    """Version of the distribution ``name`` that is first on sys.path, None where it is not installed."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _companions(import_name: str) -> tuple[Distribution, ...]:
    """None for a name that is not installed itself: a leftover companion alone runs nothing."""
    if _place(import_name) is None:
        return ()
    names = COMPANIONS.get(import_name.partition(".")[0], ())
    return tuple(each for name in names if (each := _installed(name)) is not None)


@cache
def _installed(name: str) -> Distribution | None:
    try:
        found = importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        return None
    return _described(found)


@cache
def _owners(import_name: str) -> tuple[Distribution, ...]:
    place = _place(import_name)
    if place is None:
        return ()
    owners = tuple(_described(found) for found in _listing(place))
    return owners or (_unlisted(import_name, place),)


def _place(import_name: str) -> pathlib.Path | None:
    """Folder or file that an import of ``import_name`` would load; parents are not imported to find it."""
    top, *parts = import_name.split(".")
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):  # ValueError: a module put into sys.modules without a spec
        return None
    if spec is None:
        return None
    places = list(spec.submodule_search_locations or ([spec.origin] if spec.origin else []))
    candidates = (pathlib.Path(place, *parts) for place in places)
    return next((found for each in candidates for found in (each, each.with_suffix(".py")) if found.exists()), None)


def _listing(place: pathlib.Path) -> Iterator[importlib.metadata.Distribution]:
    """Distributions whose RECORD, beside or above ``place``, lists it."""
    for root in place.parents:
        inside = place.relative_to(root).as_posix()
        for found in importlib.metadata.distributions(path=[str(root)]):
            record = found.read_text("RECORD") or ""
            if any(line.startswith((inside + "/", inside + ",")) for line in record.splitlines()):
                yield found


def _described(found: importlib.metadata.Distribution) -> Distribution:
    return Distribution(_normal(found.metadata["Name"]), found.version, record_digest(found.read_text("RECORD") or ""))


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def record_digest(record: str) -> str:
    """SHA-256 over the contents a RECORD lists (PEP 376: path, hash, size a row), in any order.

    Who installed it, where from, and byte code compiled here do not count, nor do files outside the folder (scripts).
    """
    rows = (row for row in csv.reader(record.splitlines()) if len(row) > 1 and row[1])
    lines = sorted(f"{row[0]},{row[1]}\n" for row in rows if _is_content(pathlib.PurePosixPath(row[0])))
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _is_content(path: pathlib.PurePosixPath) -> bool:
    return not (path.is_absolute() or ".." in path.parts or "__pycache__" in path.parts or path.name in INSTALLER_FILES)


def _unlisted(import_name: str, place: pathlib.Path) -> Distribution:
    top = import_name.partition(".")[0]
    names = importlib.metadata.packages_distributions().get(top, [])
    name = names[0] if names else top
    return Distribution(_normal(name), version(name) or UNKNOWN_VERSION, _tree_digest(place))


def _tree_digest(place: pathlib.Path) -> str:
    files = [place] if place.is_file() else sorted(file for file in place.rglob("*") if file.is_file())
    total = hashlib.sha256()
    for file in files:
        if not SKIPPED_FOLDERS & set(file.parts):
            total.update(f"{file.relative_to(place.parent).as_posix()},{_file_digest(file)}\n".encode())
    return total.hexdigest()


def _file_digest(file: pathlib.Path) -> str:
    digest = hashlib.sha256()
    with file.open("rb") as stream:
        while chunk := stream.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()
