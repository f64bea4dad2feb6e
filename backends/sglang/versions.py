"""Which module of names a version of SGLang is driven with."""

from __future__ import annotations

import re
from typing import Any, Protocol, cast

from backends.sglang import v0_5_16, v0_5_22


class Names(Protocol):
    """What differs between versions; ``Any`` stands for the engine's own objects."""

    VERSION: tuple[int, int, int]
    PARALLEL: dict[str, Any]  # fields of get_parallel().override that stand in for process groups
    FA3_MODULE: str  # where FlashAttention 3's kernel entry is chosen

    def argument_names(self) -> frozenset[str]: ...

    def complete(self, runner: Any) -> None: ...

    def bind_step(self, runner: Any, batch: Any) -> None: ...

    def bind_static(self, runner: Any, batch: Any) -> None: ...

    def replay_view(self, batch: Any, static: Any, fill: int) -> Any: ...


KNOWN: tuple[Names, ...] = (cast(Names, v0_5_16), cast(Names, v0_5_22))


def names_for(version: str) -> tuple[Names, str | None]:
    """The names for ``version``, and a label where it is not one they were read from: then the nearest ones are used."""
    wanted = _numbers(version)
    nearest = min(KNOWN, key=lambda names: abs(_rank(names.VERSION) - _rank(wanted)))
    if wanted == nearest.VERSION:
        return nearest, None
    read_from = ".".join(map(str, nearest.VERSION))
    return nearest, f"SGLang {version} is driven with the names of {read_from}, the nearest version they were read from"


def _numbers(version: str) -> tuple[int, int, int]:
    found = [int(part) for part in re.findall(r"\d+", version)[:3]]
    major, minor, patch = (found + [0, 0, 0])[:3]
    return major, minor, patch


def _rank(version: tuple[int, int, int]) -> int:
    major, minor, patch = version
    return (major * 1000 + minor) * 1000 + patch
