"""`attnpin check` of several pins, with answers that were not measured."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from store.verdicts.checked import Answer, Checked, Ground
from store.verdicts.verdict import Status, Verdict
from tuner import cli
from tuner.checking import with_gpu
from tuner.checking.with_gpu import Request
from tuner.errors import MeasurementInvalid

ANSWERS = {"a": (Answer.EQUIVALENT, 0), "b": (Answer.REGRESSED, 1), "c": (Answer.SUSPECT, 3)}

Run = Callable[..., int]


@pytest.fixture
def check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The command on a folder of three pins, each of which has its answer."""
    asked: list[Request] = []

    def answer(request: Request, settings: object) -> Checked:
        asked.append(request)
        if "broken" in request.path.read_text():
            raise MeasurementInvalid("somebody else was on the GPU")
        found, code = ANSWERS[request.path.parent.name]
        fast = Verdict(Status.UNCHANGED, (), "as it was", 0)
        return Checked(found, "so it is", Ground.STORED_TIMES, fast, "decode-1", exit_code=code)

    monkeypatch.setattr(with_gpu, "check_measured", answer)
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


def test_a_check_that_breaks_off_is_that_pin_s_answer_and_the_others_are_checked(
    check: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "b" / "pin.yaml").write_text("schema: 1\nvalid_for:\nevidence:\nbroken: true\n")
    assert check("--json") == 4
    printed = capsys.readouterr()
    lines = [json.loads(line) for line in printed.out.splitlines()]
    assert [(line["answer"], line["exit_code"]) for line in lines] == [("equivalent", 0), ("not checked", 4), ("suspect", 3)]
    assert f"pin 2 of 3, {tmp_path}/b/pin.yaml" in printed.err


def test_after_the_answers_stands_a_table_and_on_request_a_page(check: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check("--html", str(tmp_path / "out" / "pins.html")) == 1
    assert capsys.readouterr().out.endswith("3 pins: 1 equivalent, 1 regressed, 1 suspect\n")
    page = (tmp_path / "out" / "pins.html").read_text()
    assert 'href="../b/pin.md"' in page and page.count('class="bad"') == 2


def test_of_one_pin_the_page_is_its_answer(check: Run, tmp_path: Path) -> None:
    assert cli.run(["check", "--pin", str(tmp_path / "b" / "pin.yaml"), "--html", str(tmp_path / "b.html")]) == 1
    page = (tmp_path / "b.html").read_text()
    assert 'class="answer bad"' in page and "so it is" in page and "b/pin.md" not in page


def test_without_what_draws_it_a_page_is_refused_before_anything_is_checked(
    check: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tuner.report_page.find_spec", lambda name: None)
    assert cli.run(["check", "--pin", str(tmp_path / "b" / "pin.yaml"), "--html", str(tmp_path / "b.html")]) == 2
    printed = capsys.readouterr()
    assert 'pip install "attnpin[plot]"' in printed.err and not printed.out


def test_a_page_that_cannot_be_written_is_refused_before_anything_is_checked(
    check: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for page in (tmp_path, Path("/proc/pins.html")):
        assert check("--html", str(page)) == 2
        printed = capsys.readouterr()
        assert str(page) in printed.err and "pin 1 of" not in printed.err and not printed.out


def test_a_check_where_nothing_changed_waits_for_no_library_that_only_measuring_takes() -> None:
    program = "import sys, tuner.checking.with_gpu; print([name for name in ('numpy', 'scipy', 'sqlalchemy') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], cwd=Path(__file__).parents[3], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
