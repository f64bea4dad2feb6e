from __future__ import annotations

from typing import Any

import pytest

from backends.worker.watchdog import WAITS, Watchdog

LIMITS = {"event": "limits", "trial_limit_s": 10.0, "build_limit_s": 100.0}


def watching(*events: tuple[float, dict[str, Any]]) -> Watchdog:
    watchdog = Watchdog()
    for now, event in ((0.0, LIMITS), *events):
        watchdog.saw(event, now)
    return watchdog


def test_silence_beyond_the_trial_limit_is_overdue() -> None:
    watchdog = watching()
    assert watchdog.overdue(10.0) is None
    assert watchdog.overdue(10.1) == "no progress for 10 s (phase start)"


def test_progress_starts_the_clock_anew_and_is_named() -> None:
    watchdog = watching((8.0, {"event": "progress", "phase": "warmup", "arm": "fa3/p1", "cell": "decode"}))
    assert watchdog.overdue(18.0) is None
    assert watchdog.overdue(18.1) == "no progress for 10 s (phase warmup, fa3/p1, decode)"


def test_results_count_as_progress() -> None:
    assert watching((8.0, {"event": "trial"})).overdue(18.0) is None


def test_while_a_compiler_lives_only_the_building_limit_counts() -> None:
    watchdog = watching()
    for second in range(1, 100):
        watchdog.compiling("ptxas", float(second))
        assert watchdog.overdue(float(second)) is None
    watchdog.compiling("ptxas", 100.5)
    overdue = watchdog.overdue(100.5)
    assert overdue is not None and "ptxas was still building after 100 s" in overdue


def test_after_the_compiler_the_trial_limit_counts_from_its_end() -> None:
    watchdog = watching()
    watchdog.compiling("ninja", 50.0)
    assert watchdog.overdue(60.0) is None
    assert watchdog.overdue(60.1) is not None


def test_between_questions_there_is_no_limit() -> None:
    for closing in ("done", "error"):
        watchdog = watching((1.0, {"event": closing}))
        assert watchdog.overdue(1e9) is None
        assert watchdog.quiet_s(1e9) == 0.0
        assert watching().answering and not watchdog.answering
    assert Watchdog().overdue(1e9) is None


@pytest.mark.parametrize("kind", WAITS)
def test_who_waits_for_the_controller_s_word_has_no_limit_until_the_next_event(kind: str) -> None:
    watchdog = watching((1.0, {"event": kind}))
    assert watchdog.overdue(1e9) is None and watchdog.quiet_s(1e9) == 0.0
    watchdog.saw({"event": "progress", "phase": "timing"}, 1e9)
    assert watchdog.overdue(1e9 + 11) is not None
