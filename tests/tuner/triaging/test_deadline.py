"""When a first answer is due."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from tuner.triaging import deadline
from tuner.triaging.deadline import AT_LEAST_S, READ_BY_S, first_answer_due, running_s


@pytest.mark.parametrize(("running", "left"), [(1.0, READ_BY_S - 1.0), (3600.0, AT_LEAST_S)])
def test_what_started_late_reads_for_less(running: float, left: float, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([100.0, 100.0 + left - 0.01, 100.0 + left + 0.01])
    monkeypatch.setattr(deadline, "running_s", lambda: running)
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    due = first_answer_due()
    assert not due() and due()


def test_a_process_knows_for_how_long_it_runs() -> None:
    code = "from tuner.triaging.deadline import running_s; print(running_s())"
    began = time.monotonic()
    said = float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
    assert 0 <= said <= time.monotonic() - began + 0.1 and running_s() > 0
