"""Where the pins of many scenarios go: no two into one file, and what is told of all of them into the folder they share."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tuner.errors import UsageError
from tuner.sweep.wishes import Wish

KEY = "pin.path"
UNSAFE = re.compile(r"[^A-Za-z0-9.]+")


def placed(paths: Sequence[Path], wishes: Sequence[Wish]) -> tuple[Path, ...]:
    """``paths`` as the scenarios name them, apart where several have the same by default: what sets a scenario apart is added to its
    folder.

    Raises `UsageError` where the user gave one file to several.
    """
    shared = {path for path, count in Counter(paths).items() if count > 1}
    for path, wish in zip(paths, wishes):
        if path in shared and any(override.startswith(f"{KEY}=") for override in wish):
            raise UsageError(
                f"pin.path={path} would be written by several scenarios of one sweep; give each its own, "
                "such as 'pin.path=pins/${model.name}-${traffic.name}-tp${engine.tensor_parallel}/pin.yaml'"
            )
    common = set.intersection(*map(set, wishes)) if wishes else set()
    return tuple(_apart(path, wish, common) if path in shared else path for path, wish in zip(paths, wishes))


def folder_of(paths: Sequence[Path]) -> Path:
    """What lies above the folders of all pins; of a single one, beside which others may come, the same."""
    folders = {path.absolute().parent for path in paths}
    if len(folders) == 1:
        return next(iter(paths)).parent.parent
    return Path(os.path.relpath(os.path.commonpath(folders)))


def _apart(path: Path, wish: Wish, common: set[str]) -> Path:
    own = "-".join(UNSAFE.sub("-", override).strip("-") for override in wish if override not in common)
    return path.parent.with_name(f"{path.parent.name}-{own}") / path.name
