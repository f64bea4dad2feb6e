from __future__ import annotations

import time

import pytest

from backends.phases import Phases


def test_phases_are_said_and_their_seconds_added_up() -> None:
    said: list[tuple[str, str | None, str | None, str | None]] = []
    phases = Phases(lambda phase, arm=None, cell=None, detail=None: said.append((phase, arm, cell, detail)))
    for _ in range(2):
        with phases.of("build", "a", "c", "once more"):
            time.sleep(0.005)
    with phases.of("check"):
        pass
    assert said == [("build", "a", "c", "once more")] * 2 + [("check", None, None, None)]
    assert [name for name, _ in phases.seconds()] == ["build", "check"]
    assert 0.01 <= phases.spent("build") < 1.0 and phases.spent("build", "never") == phases.spent("build")


def test_a_phase_that_ends_in_an_error_is_counted() -> None:
    phases = Phases(lambda *_, **__: None)
    with pytest.raises(KeyError), phases.of("capture"):
        raise KeyError
    assert phases.current == "capture" and phases.spent("capture") > 0
