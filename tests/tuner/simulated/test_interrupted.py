"""Interrupted wherever it may be and run again, a tune stores the trials and rounds it would have stored."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from store.runs.run import Run
from tests.tuner.simulated.telling import tuned
from tuner.errors import INTERRUPTED
from tuner.job import Job

FEW = ("measure.processes=1", "measure.timing.blocks=2", "measure.timing.warmup_cap_s=0.5")
HEARD_UNTIL = (40, 130)  # events: in a probe, in the round
Hear = Callable[[Job, dict[str, Any], str], None]


def interrupted_after(events: int, hear: Hear) -> Hear:
    heard = count()

    def hear_so_far(job: Job, event: dict[str, Any], headline: str) -> None:
        if next(heard) == events:
            raise KeyboardInterrupt
        hear(job, event, headline)

    return hear_so_far


def test_a_tune_that_is_interrupted_again_and_again_ends_as_if_it_never_had_been(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pieces, hear = tmp_path / "pieces", Job.hear
    for events in HEARD_UNTIL:
        monkeypatch.setattr(Job, "hear", interrupted_after(events, hear))
        assert tuned(pieces, *FEW).code == INTERRUPTED
    monkeypatch.setattr(Job, "hear", hear)
    last, whole = tuned(pieces, *FEW), tuned(tmp_path / "whole", *FEW)
    assert (last.code, whole.code) == (0, 0) and "going on with run" in last.err
    assert last.run.rounds == whole.run.rounds
    assert probed(last.run) == {key: pytest.approx(us, rel=1e-3) for key, us in probed(whole.run).items()}
    assert len(last.run.trials) == len(whole.run.trials)


def probed(run: Run) -> dict[tuple[str, str], float]:
    """A probe's time hangs a little on what its process did before."""
    return {(trial.arm, trial.cell): trial.cost.device_us for trial in run.trials if trial.cost}
