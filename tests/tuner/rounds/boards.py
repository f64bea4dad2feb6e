"""A race on a simulated GPU whose noise hangs on process, arm and cell alone, so that it is the same on any number of equal boards."""

from __future__ import annotations

from collections.abc import Mapping

from store.runs.run import Run
from tests.tuner.simulated.telling import TWO_ARMS

QUIET = {"transient_pct": 0, "visit_pct": 0, "sample_pct": 0, "spike_share": 0}  # what hangs on when, or how often, an arm is visited
SIX_ROUNDS = (
    *TWO_ARMS,
    *("backend=[fa3,flashinfer,triton]", "measure.processes=4", "decide.min_gain=0.0005", "gpu.simulated.factor.flashinfer.decode=0.9"),
    *(f"gpu.simulated.noise.{name}={value}" for name, value in QUIET.items()),
)

Times = list[tuple[int, bool, Mapping[tuple[str, str], list[float]]]]


def times(run: Run) -> Times:
    """Of each round its index, its purpose, and what each arm took on each cell, rounded to what a float keeps of a product."""
    return [(measured.index, measured.confirms, _of(run, place)) for place, measured in enumerate(run.rounds)]


def _of(run: Run, place: int) -> Mapping[tuple[str, str], list[float]]:
    found: dict[tuple[str, str], list[float]] = {}
    for cell in run.rounds[place].cells:
        for visit in cell.visits:
            found.setdefault((visit.arm, cell.cell), []).extend(round(us, 9) for us in visit.sample_us)
    return found


def decided(run: Run) -> tuple[object, ...]:
    """What does not name boards, nor hang on how long a process took."""
    decision = run.decision
    assert decision is not None
    return decision.ruling, decision.pick, decision.flags, decision.because, decision.scores, decision.cells


def check_every_round_once(run: Run) -> None:
    assert run.status == "finished" and [measured.index for measured in run.rounds] == list(range(len(run.rounds)))
    assert [measured.confirms for measured in run.rounds] == [False] * 4 + [True] * 2
