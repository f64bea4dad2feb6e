"""What a packed run would tell a reader: to be looked through before it is given away."""

from __future__ import annotations

from pathlib import PurePath

from reports import wording
from reports.page import clean
from store.runs.run import Run

NEXT = "nothing was sent; look through it with attnpin db import, or zstd -dc FILE, before you give it away"


def render(file: PurePath, size_bytes: int, run: Run) -> str:
    environment = run.environment
    versions = ", ".join(f"{each.name} {each.version}" for each in environment.distributions)
    variables = ", ".join(f"{name}={value}" for name, value in environment.variables)
    lines = (
        ("run", f"{run.id}, {run.created}: {wording.title(run)}"),
        ("model", f"{run.scenario.model.name} ({run.scenario.model.architecture}), {run.scenario.model.source}"),
        ("traffic", f"{run.scenario.traffic.name}, {run.scenario.traffic.source}"),
        ("board", f"{environment.board.name}, {environment.board.uuid or 'without a number'}, driver {environment.board.driver}"),
        ("versions", versions),
        ("variables", variables or "none that changes kernels"),
        ("command", run.command),
        ("holds", f"{wording.count(len(run.rounds), 'process', 'processes')}, {wording.count(len(run.trials), 'trial')}"),
        ("next", NEXT),
    )
    return "\n".join([f"{file}  ({size_bytes} bytes)", *(f"  {label:<9}  {clean(text)}" for label, text in lines)]) + "\n"
