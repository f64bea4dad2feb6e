"""`attnpin check` of several pins, with answers that were not measured."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from store.checked import Answer, Checked, Ground
from store.verdict import Status, Verdict
from tuner import check_measured, cli
from tuner.check_measured import Request

ANSWERS = {"a": (Answer.EQUIVALENT, 0), "b": (Answer.REGRESSED, 1), "c": (Answer.SUSPECT, 3)}

Run = Callable[..., int]


@pytest.fixture
def check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The command on a folder of three pins, each of which has its answer."""
    asked: list[Request] = []

    def answer(request: Request, settings: object) -> Checked:
        asked.append(request)
        found, code = ANSWERS[request.path.parent.name]
        fast = Verdict(Status.UNCHANGED, (), "as it was", 0)
        return Checked(found, "so it is", Ground.STORED_TIMES, fast, "decode-1", exit_code=code)

    monkeypatch.setattr(check_measured, "check_measured", answer)
    for name in ANSWERS:
        (tmp_path / name).mkdir()
        (tmp_path / name / "pin.yaml").write_text("schema: 1\nvalid_for:\nevidence:\n")
    return lambda *options: cli.run(["check", "--pins", str(tmp_path), *options])


def test_each_pin_is_answered_by_name_and_the_gravest_answer_is_the_exit_code(check: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert check("--json") == 1
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(Path(line["pin"]).parent.name, line["exit_code"]) for line in lines] == [("a", 0), ("b", 1), ("c", 3)]


def test_a_comment_has_the_gravest_first(check: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert check("--md") == 1
    heads = [line for line in capsys.readouterr().out.splitlines() if line.startswith("**")]
    assert [head.partition("pin.yaml: ")[2].partition(":")[0] for head in heads] == ["regressed", "suspect", "equivalent"]
