"""One sitting: `attnpin calibrate` of one board, on the cells of `tests.bench.sittings.cells`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from store.boards.calibration import Calibration
from store.runs.run import Run
from tests.bench.sittings.cells import sitting_cells, slowed_cells
from tests.bench.sittings.rows import read_rows
from tests.bench.sittings.staying import staying
from tuner.calibrate import AskedCalibration, run_calibrate
from tuner.settings import compose

SCENARIO = ("model=qwen3_8b", "traffic=single_user", "measure.import_ahead=true")
# Half of what a run takes, so no quieter: 2 ms is the shortest sample that events tell apart well enough.
TIMING = ("measure.timing.replay_ms=2", "measure.timing.replays=6")
SLOWED = (0.02, 0.05, 0.1)


@dataclass(frozen=True)
class Kind:
    """What a sitting is for: the ``backends`` in it and the copies that are ``slowed`` by so much."""

    backends: tuple[str, ...]
    slowed: tuple[float, ...]

    @property
    def overrides(self) -> tuple[str, ...]:
        return (f"backend=[{','.join(self.backends)}]",)


KINDS = {
    "fa3": Kind(("fa3",), SLOWED),
    "flashinfer": Kind(("flashinfer",), SLOWED),
    "ranking": Kind(("fa3", "flashinfer", "triton"), ()),
}


def measure(kind: Kind, processes: int, overrides: Sequence[str]) -> Calibration:
    """An unfinished sitting of the same kind on the same board goes on; else another begins."""
    settings = compose([*SCENARIO, *TIMING, *kind.overrides, *overrides])
    asked = AskedCalibration(processes, kind.slowed, sitting_cells, slowed_in_turn, staying if kind.slowed else None)
    return run_calibrate(settings, asked)


def slowed_in_turn(run: Run, before: int) -> frozenset[str]:
    """After the sittings that are kept of earlier stores too, since a session begins with a store of its own. Those that were kept while
    ``run`` was broken off do not count: it goes on with the cells it has."""
    kept = sum(each.created < run.created for each in read_rows() if each.slowed_on)
    return slowed_cells(run, before + kept)
