from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any

import pytest

from backends.silence import WORK, SilenceLimits
from backends.worker.watchdog import WAITS, Watchdog

# Each of its own, so that none is taken for another: answering 10 s, timing 20 s, importing 30 s.
PATIENCE = SilenceLimits(starting_s=1.0, answering_s=10.0, importing_s=30.0, compiling_s=100.0, timing_s=20.0)
LIMITS = {"event": "limits", "limits": asdict(PATIENCE)}


def watching(*events: tuple[float, dict[str, Any]]) -> Watchdog:
    watchdog = Watchdog()
    for now, event in ((0.0, LIMITS), *events):
        watchdog.saw(event, now)
    return watchdog


def at(phase: str, **subject: str) -> dict[str, Any]:
    return {"event": "progress", "phase": phase, **subject}


def test_a_question_of_which_no_phase_has_begun_is_an_answer_that_is_waited_for() -> None:
    watchdog = watching()
    assert watchdog.overdue(10.0) is None
    assert watchdog.overdue(10.1) == "no word for 10 s (phase start); raise patience.answering if it needs longer"


def test_progress_starts_the_clock_anew_and_phase_arm_cell_and_setting_are_named() -> None:
    watchdog = watching((8.0, at("warmup", arm="fa3/p1", cell="decode")))
    assert watchdog.overdue(28.0) is None
    assert watchdog.overdue(28.1) == "no word for 20 s (phase warmup, fa3/p1, decode); raise patience.timing if it needs longer"


def test_every_phase_has_the_patience_that_is_set_for_it() -> None:
    settings = {field.name.removesuffix("_s") for field in fields(SilenceLimits)}
    assert set(WORK.values()) == settings - {"starting", "answering", "compiling"}
    for phase, work in WORK.items():
        patience = SilenceLimits(**{f"{name}_s": 1000.0 for name in settings} | {f"{work}_s": 5.0})
        watchdog = watching((0.0, {"event": "limits", "limits": asdict(patience)}), (0.0, at(phase)))
        assert watchdog.overdue(5.0) is None and f"raise patience.{work} " in (watchdog.overdue(5.1) or "")


def test_a_new_question_begins_without_the_phase_of_the_last_one() -> None:
    watchdog = watching((1.0, at("import", arm="fa3/p1")), (2.0, {"event": "done"}), (3.0, LIMITS))
    assert watchdog.overdue(13.1) == "no word for 10 s (phase start); raise patience.answering if it needs longer"


def test_results_count_as_progress() -> None:
    assert watching((8.0, {"event": "trial"})).overdue(18.0) is None


def test_while_a_compiler_lives_only_the_patience_with_it_counts() -> None:
    watchdog = watching()
    for second in range(1, 100):
        watchdog.compiling("ptxas", float(second))
        assert watchdog.overdue(float(second)) is None
    watchdog.compiling("ptxas", 100.5)
    overdue = watchdog.overdue(100.5)
    assert overdue == "ptxas was still building after 100 s (phase start); raise patience.compiling if it needs longer"


def test_after_the_compiler_the_patience_with_the_phase_counts_from_its_end() -> None:
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
    watchdog.saw(at("timing"), 1e9)
    assert watchdog.overdue(1e9 + 21) is not None
