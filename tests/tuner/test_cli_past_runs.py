"""`report`, `history` and `export` on files and a database as the store writes them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from store.database.connect import open_store
from store.pins.pin_files import evidence_entry, write_pin
from store.runs.repository import begin_run
from tests.reports import building
from tests.tuner.auditing.reasons import audit_run
from tests.tuner.racing.playing import play, started
from tuner.auditing.verdict import decision_of
from tuner.cli import run
from tuner.decide import decide
from tuner.deciding.explanation import explain
from tuner.pin import pin_of


@pytest.fixture
def pin(tmp_path: Path) -> Path:
    path = tmp_path / "pin.yaml"
    write_pin(path, building.pin(), "# why\n", building.run(building.decision()))
    return path


@pytest.fixture
def database(tmp_path: Path) -> str:
    url = f"sqlite:///{tmp_path / 'runs.db'}"
    for run_id in ("older", "newer"):
        begin_run(open_store(url), replace(building.run(building.decision()), id=run_id), fresh=True)
    return url


def killed(url: str) -> None:
    """A run is begun in the database and nobody goes on with it."""
    begin_run(open_store(url), replace(building.run(None, "running"), id="killed"), fresh=True)


def test_the_flags_of_a_pin_are_the_whole_output(pin, capsys):
    assert run(["export", "--pin", str(pin), "--to", "sglang"]) == 0
    words = capsys.readouterr().out.split()
    assert dict(zip(words[::2], words[1::2], strict=True)) == {f"--{name}": value for name, value in building.pin().flags}


def test_how_to_use_what_is_exported_goes_to_the_other_stream(pin, capsys):
    assert run(["export", "--pin", str(pin), "--to", "env"]) == 0
    captured = capsys.readouterr()
    assert "use: sglang serve" in captured.err and "use: sglang serve" not in captured.out


def test_pin_path_is_another_way_to_name_the_pin(pin, capsys):
    assert run(["export", "--to", "json", f"pin.path={pin}"]) == 0
    assert json.loads(capsys.readouterr().out)


def test_an_unknown_launcher_gets_the_nearest_names(pin, capsys):
    assert run(["export", "--pin", str(pin), "--to", "sglan"]) == 2
    assert "did you mean sglang" in capsys.readouterr().err


def test_a_report_is_made_from_a_pins_evidence_alone(pin, capsys):
    assert run(["report", "--pin", str(pin)]) == 0
    text = capsys.readouterr().out
    assert run(["report", "--md", "--pin", str(pin)]) == 0
    markdown = capsys.readouterr().out
    assert "qwen3_8b" in text and not text.startswith("# ") and markdown.startswith("# ")


def test_without_an_id_the_newest_run_is_reported(database, capsys):
    assert run(["report", f"store.url={database}", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["id"] == "newer"


def test_a_newer_run_that_was_killed_is_not_reported_but_said(database, capsys):
    killed(database)
    assert run(["report", f"store.url={database}", "--json"]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["id"] == "newer"
    assert captured.err == (
        "attnpin: run killed, begun later, is unfinished and has no decision; `attnpin report --run killed` shows what it has so far\n"
    )
    assert run(["report", "--run", "killed", f"store.url={database}"]) == 0
    captured = capsys.readouterr()
    assert "none yet: the run is unfinished" in captured.out and captured.err == ""


def test_where_no_run_was_decided_the_newest_is_reported(tmp_path, capsys):
    url = f"sqlite:///{tmp_path / 'runs.db'}"
    open_store(url)
    assert run(["report", f"store.url={url}"]) == 2
    assert "holds no run yet; make one with `attnpin tune`" in capsys.readouterr().err
    killed(url)
    assert run(["report", f"store.url={url}"]) == 0
    captured = capsys.readouterr()
    assert "run killed, unfinished" in captured.out and captured.err == ""


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--run", "r1", "--pin", "pin.yaml"], "--run and --pin each name a run; give one of them"),
        (["--json", "--md"], "--json and --md are two forms of one answer; give one of them"),
    ],
)
def test_of_two_answers_neither_is_chosen_silently(options, said, capsys):
    assert run(["report", *options]) == 2
    assert said in capsys.readouterr().err


def test_history_calls_a_run_that_nobody_ended_unfinished(database, capsys):
    killed(database)
    assert run(["history", f"store.url={database}"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert "unfinished" in rows[1] and not any("running" in row for row in rows)


def test_a_run_is_reported_by_its_id(database, capsys):
    assert run(["report", "--run", "older", f"store.url={database}", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["id"] == "older"


def test_the_runs_of_a_database_are_listed_newest_first(database, capsys):
    assert run(["history", f"store.url={database}"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert [row.split()[0] for row in rows] == ["run", "newer", "older"] and "qwen3_8b" in rows[1]
    assert run(["history", f"store.url={database}", "--json"]) == 0
    assert [one["id"] for one in json.loads(capsys.readouterr().out)] == ["newer", "older"]


def test_of_many_runs_the_newest_are_listed_and_the_others_counted(database, capsys):
    assert run(["history", f"store.url={database}", "--last", "1", "--json"]) == 0
    captured = capsys.readouterr()
    assert [one["id"] for one in json.loads(captured.out)] == ["newer"] and "the newest 1 of 2 runs; --last 0 lists all" in captured.err
    assert run(["history", f"store.url={database}", "--last", "0"]) == 0
    captured = capsys.readouterr()
    assert captured.out.count("\n") == 3 and captured.err == ""
    assert run(["history", f"store.url={database}", "--last", "1", "--cell", "c", "--arm", "a"]) == 2


def test_an_unknown_run_is_a_usage_error(database, capsys):
    assert run(["report", "--run", "r77", f"store.url={database}"]) == 2
    assert "r77" in capsys.readouterr().err


def test_an_evidence_file_that_was_changed_is_refused(pin, capsys):
    evidence = next(pin.parent.glob("*.evidence.jsonl.zst"))
    evidence.write_bytes(evidence.read_bytes() + b" ")
    assert run(["report", "--pin", str(pin)]) == 2
    assert evidence.name in capsys.readouterr().err


def test_a_report_explains_every_comparison_from_a_pins_evidence_alone(tmp_path, capsys):
    made = play(started({"fa3": (500.0, 100.0), "flashinfer": (500.0, 80.0)}))
    decision = decide(made)
    path = tmp_path / "pin.yaml"
    write_pin(path, pin_of(made, decision, evidence_entry(path, made)), "# why\n", replace(made, decision=decision))
    assert run(["report", "--pin", str(path), "--explain"]) == 0
    text = capsys.readouterr().out
    for start in ("Which pairs may be the best?", "How much attention time", "lose a cell?", "Does the pick hold"):
        assert start in text
    assert run(["report", "--pin", str(path), "--explain", "--json"]) == 0
    assert [each["question"] for each in json.loads(capsys.readouterr().out)] == [each.question for each in explain(made)]


def test_an_audit_is_explained_as_it_was_decided_without_the_cells_of_its_reasons(tmp_path, capsys):
    made = audit_run((500.0, 100.0, 44.0), (650.0, 60.0, 132.0))
    path = tmp_path / "pin.yaml"
    decision = decision_of(made)
    write_pin(path, pin_of(made, decision, evidence_entry(path, made)), "# why\n", replace(made, decision=decision))
    assert run(["report", "--pin", str(path), "--explain"]) == 0
    text = capsys.readouterr().out
    assert "on decode_b64" in text and "reason-" not in text
