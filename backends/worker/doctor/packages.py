"""The distributions on the path: every copy, not only the one that is imported."""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import PathDistribution
from pathlib import Path

from backends.condition import Installed

RECORDS = ("*.dist-info", "*.egg-info")


@dataclass(frozen=True)
class Package:
    name: str
    folder: Path
    record: PathDistribution

    @property
    def described(self) -> Installed:
        return Installed(self.name, self.record.version, str(self.folder), tuple(self.record.requires or ()))

    @cached_property
    def files(self) -> dict[str, str]:
        """Content hash ("sha256=...") by path below the folder, of what the wheel brought into it."""
        rows = csv.reader((self.record.read_text("RECORD") or "").splitlines())
        return {row[0]: row[1] for row in rows if len(row) > 1 and row[1] and _is_inside(row[0])}


def on_path(names: Sequence[str]) -> tuple[Package, ...]:
    """Every distribution of ``names`` ("NAME-*": all that begin so), in the order of the path."""
    return tuple(package for folder in folders() for package in _in(folder) if _is_among(package.name, names))


def first_of_each(packages: Sequence[Package]) -> tuple[Package, ...]:
    """Without the copies that an earlier one of the same name hides."""
    return tuple({package.name: package for package in reversed(packages)}.values())[::-1]


def folders() -> tuple[Path, ...]:
    """The folders of the path, each once: a link to one before it (lib64) counts as the same."""
    existing = (Path(entry).resolve() for entry in sys.path if entry and Path(entry).is_dir())
    return tuple(dict.fromkeys(existing))


def _in(folder: Path) -> Iterator[Package]:
    for info in sorted(place for pattern in RECORDS for place in folder.glob(pattern)):
        yield Package(_normal(info.name.partition("-")[0]), folder, PathDistribution(info))


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name.removesuffix(".egg").removesuffix(".egg-info")).lower()


def _is_among(name: str, names: Sequence[str]) -> bool:
    return name in names or any(name.startswith(each[:-1]) for each in names if each.endswith("-*"))


def _is_inside(path: str) -> bool:
    parts = path.split("/")
    return not (path.startswith("/") or ".." in parts or "__pycache__" in parts or parts[0].endswith(".dist-info"))
