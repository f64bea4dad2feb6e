from __future__ import annotations

import pytest

from backends.outcome import Outcome
from tests.tuner.building import decode, prefill
from tuner.racing.hung import spared
from tuner.workers.failure import Place, WorkerFailed

CELLS = tuple(weighted.cell for weighted in (decode("a"), decode("b"), prefill("c"), prefill("d")))


def failed(outcome: Outcome, cell: str | None) -> WorkerFailed:
    return WorkerFailed(outcome, "why", Place("timing", "fa3/p1", cell))


@pytest.mark.parametrize(("cell", "untried"), [("a", ["b"]), ("c", ["d"]), (None, []), ("elsewhere", [])])
def test_an_arm_that_timed_out_is_not_tried_on_the_rest_of_that_phase(cell: str | None, untried: list[str]) -> None:
    found = spared(failed(Outcome.TIMED_OUT, cell), "fa3/p1", CELLS, [each for each in CELLS if each.name != cell])
    assert [(trial.arm, trial.cell, trial.outcome) for trial in found] == [("fa3/p1", name, Outcome.TIMED_OUT) for name in untried]
    assert all(trial.detail == f"not tried after it timed out on {cell}, in the same phase" for trial in found)


@pytest.mark.parametrize("outcome", [outcome for outcome in Outcome if outcome not in (Outcome.TIMED_OUT, Outcome.MEASURED)])
def test_whoever_fails_at_once_is_tried_on_every_cell(outcome: Outcome) -> None:
    assert spared(failed(outcome, "a"), "fa3/p1", CELLS, CELLS[1:]) == ()
