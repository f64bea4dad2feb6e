from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from store.errors import NewerSchema
from store.sweeps.sweep import INDEX, Ending, read_sweep
from tests.tuner.sweep.scripted import Scripted, decided
from tuner.errors import MeasurementInvalid
from tuner.executors.executor import Done, Task
from tuner.progress import Progress
from tuner.sweep.alone import alone
from tuner.sweep.sweep import Scenario, run_sweep

NAMES = ("chat", "rag", "single")


def scenarios(names: Sequence[str] = NAMES) -> list[Scenario]:
    return [Scenario((f"traffic={name}",), Task(number, name, (f"traffic={name}",))) for number, name in enumerate(names, 1)]


def run(folder: Path, executor: Scripted, names: Sequence[str] = NAMES, fresh: bool = False, as_json: bool = False) -> int:
    return run_sweep(scenarios(names), executor, folder, fresh, as_json)


def ran(executor: Scripted) -> list[str]:
    return [task.name for task in executor.ran]


def test_a_scenario_that_fails_costs_the_others_nothing_and_the_gravest_code_counts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    executor = Scripted({"traffic=chat": Done(4, None, "the board was too hot"), "traffic=rag": Done(3, None, "no arm could be measured")})
    assert run(tmp_path, executor) == 4 and ran(executor) == list(NAMES)
    printed = capsys.readouterr()
    lines = printed.out.splitlines()
    assert "exit 4: the board was too hot" in lines[1] and "exit 3: no arm could be measured" in lines[2] and "unset" in lines[3]
    assert lines[-2:] == ["3 scenarios: 2 without a pin, 1 unset", f"index     {tmp_path}/index.html"]
    assert "2 of 3, rag: round 1 of at most 4: timing" in printed.err


def test_what_is_too_long_for_the_table_stands_below_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    long = "the board is used by others, " + "and by others still, " * 9
    run(tmp_path, Scripted({"traffic=rag": Done(4, None, long)}), ("rag",))
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines[:2])) < len(long) and f"traffic=rag: exit 4: {long.strip()}" in lines
    assert lines[-2] == "1 scenario: 1 without a pin"


def test_an_executor_that_fails_on_one_is_that_one_s_end(tmp_path: Path) -> None:
    assert run(tmp_path, Scripted({"traffic=rag": MeasurementInvalid("the node went away")})) == 4
    sweep = read_sweep(tmp_path)
    assert sweep is not None
    assert [entry.ending and entry.ending.said for entry in sweep.entries][1] == "the node went away"


def test_asked_again_it_goes_on_with_what_is_not_settled(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(tmp_path, Scripted({"traffic=rag": Done(4, None, "too hot")}))
    capsys.readouterr()
    again = Scripted()
    assert run(tmp_path, again) == 0 and ran(again) == ["rag"]
    assert "2 of 3 scenarios were done in the sweep of" in capsys.readouterr().err


def test_a_settled_sweep_and_another_one_begin_anew(tmp_path: Path) -> None:
    for names in (NAMES, NAMES, NAMES[:2]):
        executor = Scripted()
        run(tmp_path, executor, names)
        assert ran(executor) == list(names)


def test_fresh_measures_what_is_there_again(tmp_path: Path) -> None:
    run(tmp_path, Scripted({"traffic=rag": Done(4, None, "too hot")}))
    executor = Scripted()
    run(tmp_path, executor, fresh=True)
    assert ran(executor) == list(NAMES)


def test_wrong_answers_settle_a_scenario_and_are_its_code(tmp_path: Path) -> None:
    ends = {"traffic=chat": decided("chat", 5), "traffic=rag": Done(130, None, "Interrupted")}
    assert run(tmp_path, Scripted(ends)) == 130
    again = Scripted()
    assert run(tmp_path, again) == 5 and ran(again) == ["rag"]


def test_an_interruption_reaches_what_runs_and_keeps_what_is_done(tmp_path: Path) -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    executor = Scripted({"traffic=rag": KeyboardInterrupt()})
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, executor)
    sweep = read_sweep(tmp_path)
    signal.signal(signal.SIGINT, before)
    assert executor.stopped.is_set() and sweep is not None and [entry.settled for entry in sweep.entries] == [True, False, False]


def test_as_many_run_at_once_as_there_are_places_and_never_two_in_one(tmp_path: Path) -> None:
    executor = Scripted(places=3, meet=threading.Barrier(3))  # three must be at work together for any to go on
    assert run(tmp_path, executor, [f"s{i}" for i in range(6)]) == 0
    assert executor.most == 3 and len(executor.ran) == 6


def test_the_index_is_a_page_that_leads_to_the_pins_and_as_data_what_json_prints(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(tmp_path, Scripted({"traffic=rag": Done(2, None, "<no> such GPU")}), as_json=True)
    printed = json.loads(capsys.readouterr().out)
    assert [entry["ending"]["exit_code"] for entry in printed["entries"]] == [0, 2, 0]
    assert printed == json.loads((tmp_path / INDEX).read_text())["sweep"]
    page = (tmp_path / "index.html").read_text()
    assert (
        f'href="{os.path.relpath("pins/chat/pin.md", tmp_path)}">pins/chat/pin.yaml</a>' in page
        and "&lt;no&gt; such GPU" in page
        and "3 scenarios: 2 unset, 1 without a pin" in page
    )


def test_what_ran_before_it_was_asked_for_has_no_time_of_its_own(tmp_path: Path) -> None:
    run(tmp_path, Scripted({"traffic=chat": replace(decided("chat"), ran=False)}))
    sweep = read_sweep(tmp_path)
    assert sweep is not None and [entry.seconds is None for entry in sweep.entries] == [True, False, False]


def test_what_never_was_a_scenario_ends_before_any_begins(tmp_path: Path) -> None:
    wrong = Scenario(("traffic=nosuch",), None, Ending(2, "There is no traffic named 'nosuch'"))
    executor = Scripted()
    assert run_sweep([wrong, *scenarios(("nosuch", "chat"))[1:]], executor, tmp_path, False, False) == 2 and ran(executor) == ["chat"]


def test_each_is_told_when_the_sweep_was_begun_also_when_it_goes_on(tmp_path: Path) -> None:
    first, again = Scripted({"traffic=rag": Done(4, None, "too hot")}), Scripted()
    run(tmp_path, first)
    begun = read_sweep(tmp_path)
    run(tmp_path, again)
    assert begun is not None
    assert {task.overrides[-1] for task in (*first.ran, *again.ran)} == {f"executor.since='{begun.begun}'"}


def test_an_index_of_a_newer_attnpin_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / INDEX).write_text('{"attnpin_sweep": 99, "sweep": {}}')
    with pytest.raises(NewerSchema, match="has schema 99"):
        run(tmp_path, Scripted())
    assert "99" in (tmp_path / INDEX).read_text()


def test_a_second_sweep_of_the_same_index_waits_until_the_first_has_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told, executor = threading.Event(), Scripted()
    monkeypatch.setattr(Progress, "phase", lambda self, headline, detail="": told.set() if "waiting for" in headline else None)
    with alone(tmp_path, Progress()):
        second = threading.Thread(target=run, args=(tmp_path, executor))
        second.start()
        assert told.wait(20) and not executor.ran
    second.join(20)
    assert ran(executor) == list(NAMES)
