"""`attnpin contribute`: a run packed for a public corpus, without hosts, paths or accounts; nothing is sent anywhere."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from backends.simulated.world import is_simulated
from store.evidence.contribution import contribution, leaks
from store.evidence.run_evidence import evidence_bytes
from store.files import write_together
from store.runs.run import FOREIGN, Run
from tuner.errors import UsageError

NO_NAME = re.compile(r"[^a-z0-9.-]+")


@dataclass(frozen=True)
class Packed:
    """``run`` is what a reader of ``file`` gets."""

    file: Path
    size_bytes: int
    run: Run


def pack(run: Run, folder: Path, names: tuple[str, ...] = ()) -> Packed:
    """``names``: words that must not stand in it either, as of a company or a checkpoint. Raises `UsageError`, `StoreError`."""
    if run.status == FOREIGN:
        raise UsageError(f"run {run.id} is foreign: somebody else measured it, so it is theirs to contribute; name a run of your own")
    if is_simulated(run.environment.board.name):
        raise UsageError(f"run {run.id} was made on {run.environment.board.name}, which nobody can serve on; contribute one of a real GPU")
    packed = contribution(run, names)
    if left := leaks(packed, run, names):
        raise UsageError(
            f"run {run.id} is not packed: {left[0]!r:.100} would tell where it ran ({len(left)} such texts); "
            "rename what holds it, or tune again without it"
        )
    content = evidence_bytes(packed)
    file = folder / f"{_named(run)}.evidence.jsonl.zst"
    write_together([(file, content)])
    return Packed(file, len(content), packed)


def _named(run: Run) -> str:
    parts = (run.scenario.model.name, run.environment.board.name.removeprefix("NVIDIA "), run.scenario.traffic.name, run.id)
    return "-".join(NO_NAME.sub("_", part.lower()).strip("_") for part in parts)
