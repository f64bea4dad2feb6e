from __future__ import annotations

from tests.tuner.building import DECODE, PREFILL, one_cell_each
from tuner.calibrating.copies import calibration_run, copied

RUN = calibration_run(one_cell_each({"fa3": (9.0, 5.0)}), (0.02, 0.1))
ORIGINALS = tuple(trial for trial in RUN.trials if trial.arm == "fa3/p1")


def test_slowed_copies_are_entered_where_they_are_wanted_and_the_equal_one_everywhere() -> None:
    entered = {(trial.arm, trial.cell) for trial in copied(ORIGINALS, RUN.arms, {DECODE})}
    assert entered == {("fa3/p1#2", DECODE), ("fa3/p1#2", PREFILL), ("fa3/p1+0.02", DECODE), ("fa3/p1+0.1", DECODE)}


def test_copies_that_were_entered_stay_where_they_are() -> None:
    """A calibration that goes on may be told another turn than when it began."""
    entered = copied(ORIGINALS, RUN.arms, {DECODE})
    assert copied((*ORIGINALS, *entered), RUN.arms, {PREFILL}) == []
