"""`attnpin check --fast` on a pin just made, and on what became of it."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from backends.environment import Environment
from store.pins.pin_files import evidence_of, write_pin
from tests.tuner.hf.configuring import written
from tests.tuner.jobs import DEFAULT, ROOT, Site
from tuner import cli
from tuner.pin import valid_for


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, lock_key: str, scripted: bytes) -> Site:
    """A pin for this processor."""
    made = Site(tmp_path_factory.mktemp("site"), lock_key, scripted)
    assert made.tune() == 0
    return made


@pytest.fixture
def pin_text(site: Site) -> Iterator[str]:
    """The pin's text; what a test makes of the file is undone."""
    text = site.pin_path.read_text()
    yield text
    site.pin_path.write_text(text)


def check(site: Site, *arguments: str) -> int:
    return cli.run(["check", "--fast", "--pin", str(site.pin_path), *arguments])


def test_a_pin_just_made_holds_and_is_checked_within_two_seconds(site: Site) -> None:
    """Processor seconds of the command and its worker, which a busy machine does not change much."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-P", "-m", "tuner", "check", "--fast", "--pin", str(site.pin_path)]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=60)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert (done.returncode, done.stdout) == (0, "unchanged: nothing the pin rests on has changed: it holds as measured\n")
    assert after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime < 2.0


def test_flags_edited_by_hand_do_not_hold(site: Site, pin_text: str, capsys: pytest.CaptureFixture[str]) -> None:
    edited = pin_text.replace("flags: {}", "flags:\n  attention-backend: fa3")
    assert edited != pin_text
    site.pin_path.write_text(edited)
    assert check(site) == 2
    assert "sets --attention-backend fa3, and run" in capsys.readouterr().err


def test_a_variable_that_changes_kernels_is_noticed(
    site: Site, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    assert check(site) == 3
    assert "OMP_NUM_THREADS changed under the pin" in capsys.readouterr().out


def test_another_torch_on_the_engines_path_touches_the_arm(site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").write_text("")
    (tmp_path / "torch" / "version.py").write_text("__version__ = '9.9'\ncuda = None\n")
    assert check(site, f"engine.path=[{tmp_path}]") == 3
    text = capsys.readouterr().out
    assert text.startswith("changed: torch changed under the pin") and DEFAULT in text


def made_on(site: Site, folder: Path, change: Callable[[Environment], Environment]) -> str:
    """The site's pin as it would be of another environment, evidence and all, in ``folder``."""
    pin = site.pin
    run = evidence_of(site.pin_path, pin)
    there = replace(run, environment=change(run.environment))
    path = folder / "pin.yaml"
    write_pin(path, replace(pin, valid_for=valid_for(there, there.decision)), "# why\n", there)
    return str(path)


def test_another_python_is_noticed(site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    older = made_on(site, tmp_path, lambda here: replace(here, python="3.9.1"))
    assert cli.run(["check", "--fast", "--pin", older]) == 3
    assert "Python changed under the pin" in capsys.readouterr().out


def test_another_processor_is_incomparable(site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = made_on(site, tmp_path, lambda here: replace(here, board=replace(here.board, name="Another CPU")))
    assert cli.run(["check", "--fast", "--pin", other]) == 3
    assert capsys.readouterr().out.startswith("incomparable: the pin was measured on another board (Another CPU)")


def test_a_pin_of_a_newer_attnpin_is_refused(site: Site, pin_text: str, capsys: pytest.CaptureFixture[str]) -> None:
    site.pin_path.write_text(pin_text.replace("schema: 1\n", "schema: 99\n"))
    assert check(site) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line == "attnpin: pin pin.yaml has schema 99 and this attnpin reads schemas up to 1; install a newer attnpin"


@pytest.mark.parametrize("command", ["[/no/such/python]", "[sh, -c, exit 3]"])
def test_a_serving_environment_that_does_not_start_is_the_users_to_mend(
    site: Site, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check(site, f"engine.command={command}") == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("attnpin: engine.command=")


def test_a_checkpoint_named_beside_a_pin_is_compared_with_it(site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = written(tmp_path / "other")
    assert check(site, "model=hf", f"model.path={folder}") == 3
    assert "changed: model changed under the pin" in capsys.readouterr().out
