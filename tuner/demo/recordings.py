"""Runs and comparisons measured on real boards that come with attnpin: what `attnpin demo` replays."""

from __future__ import annotations

from importlib.resources import as_file, files
from importlib.resources.abc import Traversable
from pathlib import Path

from store.comparisons.side_by_side import SideBySide
from store.evidence.run_evidence import read_evidence
from store.runs.run import Run
from tuner.comparing.recorded import EVIDENCE as COMPARED
from tuner.comparing.recorded import recorded
from tuner.errors import UsageError
from tuner.suggest import instead

EVIDENCE = "pin.evidence.jsonl.zst"
TUNE, UPGRADE, CURE = "tune", "upgrade", "cure"  # the parts of the story, each of which can be told alone
TUNED = "qwen3_235b_a22b-h200"
# Of the same model on the same cells: the upgrade behind SGLang issue 17411, and the one past it.
COMPARISONS = {UPGRADE: "flashinfer-0.5.3-to-0.6.1-h200", CURE: "flashinfer-0.5.3-to-0.6.4-h200"}


def names() -> tuple[str, ...]:
    return tuple(sorted(entry.name for entry in folder().iterdir() if (entry / EVIDENCE).is_file()))


def recording(name: str) -> Run:
    """The run of that name, as its evidence keeps it. Raises `UsageError` with the nearest names."""
    if name not in names():
        raise UsageError(f"no recorded run is called {name!r}; {instead(name, (*names(), TUNE, *COMPARISONS))}")
    with as_file(folder() / name / EVIDENCE) as path:
        return read_evidence(path)


def comparison(part: str) -> SideBySide:
    """That of a ``part`` of the story."""
    with as_file(folder() / "upgrade" / COMPARISONS[part] / COMPARED) as path:
        return recorded(path)


def folder() -> Traversable:
    """In the package where attnpin was installed; in a checkout, and so in an editable install, examples/ is the only copy."""
    installed = files("tuner") / "recordings"
    return installed if installed.is_dir() else Path(__file__).parents[2] / "examples"
