"""What came of a sweep, beside what was foretold of the scenarios that have ended."""

from __future__ import annotations

import json
import os
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from statistics import quantiles

from store.database.connect import open_store
from store.past.history import RunSummary, list_runs
from store.sweeps.sweep import Entry, read_sweep
from store.sweeps.sweep_cost import Cost
from tests.bench.sweep.measure import STORE, WALL, foretold
from tests.bench.sweep.rows import Row
from tuner.sweep.cost import walls
from tuner.sweep.looking import looking_s


def came_of(folder: Path) -> Row:
    """Raises `LookupError` where too little has ended to say anything."""
    sweep, pilot = read_sweep(folder / "all"), read_sweep(folder / "pilot")
    boards, cost = foretold(folder)
    pairs = () if sweep is None else tuple(zip(sweep.entries, cost.costs, strict=True))
    ended = [(entry, told) for entry, told in pairs if entry.settled and told.seconds is not None]
    if sweep is None or pilot is None or len(ended) < 2:
        raise LookupError(f"{folder} holds no sweep of which scenarios have ended")
    runs = _runs_of(folder, [entry for entry, _ in ended])
    calls = [line["seconds"] for line in map(json.loads, (folder / WALL).read_text().splitlines()) if line["sweep"] == "all"]
    took, told_s = [_s(entry.seconds) for entry, _ in ended], [_s(told.seconds) for _, told in ended]
    cuts = quantiles((one / other for one, other in zip(took, told_s)), n=10)
    return Row(
        **{"scenarios": len(sweep.entries), "ended": len(ended), "boards": boards, "pilot": len(pilot.entries)},
        failed=sum(entry.ending is not None and not entry.settled for entry in sweep.entries),
        cpus=len(os.sched_getaffinity(0)),
        grounds=_grounds([told for _, told in ended]),
        foretold_board_s=sum(told_s),
        board_s=sum(took),
        foretold_wall_s=dict(walls(told_s, looking_s(len(sweep.entries)), [boards]))[boards],
        wall_s=sum(calls),
        look_s=sum(calls) - dict(walls(took, boards=[boards]))[boards],
        calls=len(calls),
        shares=(cuts[0], cuts[4], cuts[8]),
        runs=len(runs),
        rounds=sum(run.rounds for run in runs),
        measured=datetime.now(UTC).date().isoformat(),
    )


def _runs_of(folder: Path, ended: list[Entry]) -> list[RunSummary]:
    """All that the store has of these: as many as there are of them, where none was begun twice."""
    named = {entry.ending.run for entry in ended if entry.ending is not None}
    return [run for run in list_runs(open_store(f"sqlite:///{folder}/{STORE}")) if run.id in named]


def _grounds(costs: list[Cost]) -> tuple[tuple[str, int], ...]:
    return tuple(Counter(cost.ground.value for cost in costs).most_common())


def _s(seconds: float | None) -> float:
    assert seconds is not None
    return seconds
