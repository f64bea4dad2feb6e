"""The pins in a folder of a deployment, among whatever else lies there."""

from __future__ import annotations

import re
from pathlib import Path

from store.pins.pin_files import evidence_path
from store.pins.pin_yaml import HEADER
from tuner.errors import UsageError

KEYS = ("schema", "valid_for", "evidence")  # that a pin has at its top, and other YAML files hardly together
TOP = {key: re.compile(rf"^{key}:", re.MULTILINE) for key in KEYS}
FIRST_WORDS = HEADER.partition(":")[0]  # those of a pin that was cut short, too
HIDDEN = "."


def pins_in(folder: Path) -> tuple[Path, ...]:
    """Every pin at any depth, in order, hidden folders left out. Raises `UsageError` where there is none."""
    if not folder.is_dir():
        raise UsageError(f"--pins {folder} is no folder; give the one that the pins lie in, or one pin with --pin")
    found = tuple(sorted(path for path in folder.rglob("*.y*ml") if _is_shown(path.relative_to(folder)) and _is_pin(path)))
    if not found:
        raise UsageError(f"--pins {folder} holds no pin: no YAML file there has {', '.join(KEYS)}; give the folder that the pins lie in")
    return found


def _is_shown(inside: Path) -> bool:
    return not any(part.startswith(HIDDEN) for part in inside.parts)


def _is_pin(path: Path) -> bool:
    """Also one of which nothing can be read any more: its evidence lies beside it."""
    if evidence_path(path).is_file():
        return not path.is_dir()
    try:
        text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    except OSError:  # somebody else's, since nothing of a pin lies beside it
        return False
    return text.startswith(FIRST_WORDS) or all(pattern.search(text) for pattern in TOP.values())
