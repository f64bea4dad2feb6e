from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tuner import session_of
from tuner.executors.place import DEVICES
from tuner.progress import Progress
from tuner.settings import compose


def test_workers_of_every_job_that_measures_find_the_device_that_was_named(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    monkeypatch.setattr(session_of, "Session", lambda *given: made.append(given))
    session_of.session_of(compose(["executor.device=GPU-1"]), Progress())
    (given,) = made
    assert "GPU-1" in [each[DEVICES] for each in given if isinstance(each, Mapping)]
