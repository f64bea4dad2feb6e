"""Runs measured on real boards that come with attnpin: what `attnpin demo` replays."""

from __future__ import annotations

from importlib.resources import as_file, files
from importlib.resources.abc import Traversable
from pathlib import Path

from store.evidence.run_evidence import read_evidence
from store.runs.run import Run
from tuner.errors import UsageError
from tuner.suggest import instead

FIRST = "qwen3_8b-h200"
EVIDENCE = "pin.evidence.jsonl.zst"
UPGRADE = "upgrade"  # the folder of recorded comparisons, of which `attnpin demo upgrade` tells one


def names() -> tuple[str, ...]:
    return tuple(sorted(entry.name for entry in folder().iterdir() if (entry / EVIDENCE).is_file()))


def recording(name: str) -> Run:
    """The run of that name, as its evidence keeps it. Raises `UsageError` with the nearest names."""
    if name not in names():
        raise UsageError(f"no recorded run is called {name!r}; {instead(name, (*names(), UPGRADE))}")
    with as_file(folder() / name / EVIDENCE) as path:
        return read_evidence(path)


def folder() -> Traversable:
    """In the package where attnpin was installed; in a checkout, and so in an editable install, examples/ is the only copy."""
    installed = files("tuner") / "recordings"
    return installed if installed.is_dir() else Path(__file__).parents[2] / "examples"
