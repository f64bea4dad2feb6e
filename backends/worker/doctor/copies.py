"""Second copies: of an import name on the path, of a file in a folder, of a library inside another distribution."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

from backends.condition import Fa4Copy, Overwritten, Provided
from backends.worker.doctor.packages import Package, folders

FA4 = "flash_attn/cute/interface.py"  # marks a copy of FlashAttention 4, in vLLM as "vllm_flash_attn/..."
SUFFIXES = (".py", ".so", ".abi3.so")


def provided(imports: Sequence[str]) -> tuple[Provided, ...]:
    """For every one of ``imports`` that lies on the path: where, by the rules of Python's path finder (PEP 420)."""
    found = (_provided(name, folders()) for name in imports)
    return tuple(each for each in found if each.folders)


def _provided(name: str, path: Sequence[Path]) -> Provided:
    """A package or module anywhere on the path goes before namespace portions, wherever they stand."""
    whole = [folder for folder in path if _is_whole(folder, name)]
    portions = [folder for folder in path if folder not in whole and (folder / name).is_dir()]
    return Provided(name, tuple(map(str, whole + portions)), merged=not whole)


def _is_whole(folder: Path, name: str) -> bool:
    return (folder / name / "__init__.py").is_file() or any((folder / f"{name}{suffix}").is_file() for suffix in SUFFIXES)


def overwritten(packages: Sequence[Package]) -> tuple[Overwritten, ...]:
    """Pairs of ``packages`` of which the one installed last has overwritten files of the other."""
    pairs = combinations(packages, 2)
    return tuple(found for one, other in pairs if one.folder == other.folder and (found := _overwritten(one, other)))


def _overwritten(one: Package, other: Package) -> Overwritten | None:
    shared = [path for path in one.files.keys() & other.files.keys() if one.files[path] != other.files[path]]
    if one.name == other.name or not shared:
        return None
    example = min(shared)
    there = _content_hash(one.folder / example)
    kept = next((each.name for each in (one, other) if each.files[example] == there), None)
    return Overwritten(one.name, other.name, len(shared), example, kept)


def _content_hash(file: Path) -> str | None:
    """As a RECORD writes it (PEP 376): the digest in URL-safe base64 without padding."""
    try:
        digest = hashlib.sha256(file.read_bytes()).digest()
    except OSError:
        return None
    return f"sha256={base64.urlsafe_b64encode(digest).rstrip(b'=').decode()}"


def of_fa4(packages: Sequence[Package]) -> tuple[Fa4Copy, ...]:
    """FlashAttention 4's own distribution among them."""
    places = ((package.name, path) for package in packages for path in package.files if path.endswith(FA4))
    return tuple(Fa4Copy(name, path.rpartition("/")[0]) for name, path in places)
