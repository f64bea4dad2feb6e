from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tuner.cli import run
from tuner.commands import measuring

ROOT = Path(__file__).parents[3]
FEW = "backend=[torch_native]"  # `tune` hands all of its line to Hydra, which merges one backend faster than all
COMMAND = (sys.executable, "-P", "-m", "tuner")


def fails_with(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def job(_: object) -> int:
        raise error

    monkeypatch.setattr(measuring, "tune_with", job)


def test_a_fault_of_ours_is_one_sentence_and_70(monkeypatch, capsys):
    fails_with(monkeypatch, ZeroDivisionError("division by zero"))
    assert run(["tune", "gpu=h200", FEW]) == 70
    text = capsys.readouterr().err
    assert "rerun with --debug" in text and "ZeroDivisionError: division by zero" in text and text.count("\n") == 1


def test_debug_shows_the_traceback_and_keeps_the_code(monkeypatch, capsys):
    fails_with(monkeypatch, ZeroDivisionError("division by zero"))
    assert run(["--debug", "tune", "gpu=h200", FEW]) == 70
    assert "Traceback" in capsys.readouterr().err


def test_a_folder_that_is_gone_is_said_and_not_a_file_without_a_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (gone := tmp_path / "gone").mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert run(["plan", "gpu=h200", FEW]) == 2
    assert capsys.readouterr().err.startswith("attnpin: the folder that this was started in is gone; change to one that is there")


IMPORTING = "class Interrupted:\n def find_spec(self, *_): raise KeyboardInterrupt\nsys.meta_path.insert(0, Interrupted())"
ENDING = "sys.modules['tuner.cli'] = types.SimpleNamespace(run=lambda words: 0); atexit.register(os.kill, os.getpid(), signal.SIGINT)"


@pytest.mark.parametrize(("moment", "code"), [(IMPORTING, 130), (ENDING, 0)])
def test_an_interruption_before_a_command_begins_or_after_it_has_ended_leaves_no_traceback(moment: str, code: int) -> None:
    program = f"import atexit, os, signal, sys, types\nfrom tuner.__main__ import main\n{moment}\nmain()"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (code, "")


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_signal_that_ends_a_command_is_said_with_how_to_go_on(name: str) -> None:
    at_work = "lambda words: guarded(lambda: os.kill(os.getpid(), signal.{}), debug=False)"
    stand_in = f"sys.modules['tuner.cli'] = types.SimpleNamespace(run={at_work.format(name)})"
    imports = "import os, signal, sys, types\nfrom tuner.__main__ import main\nfrom tuner.command_line.boundary import guarded\n"
    program = f"{imports}{stand_in}\nmain()"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    said = f"attnpin: Interrupted by {name}; what was stored is kept, run the same command again to go on.\n"
    assert (done.returncode, done.stderr) == (128 + getattr(signal, name), said)


def test_what_the_caller_had_ignored_stays_ignored() -> None:
    program = (
        "import signal, os\nfrom tuner.command_line.termination import listen\nlisten()\nos.kill(os.getpid(), signal.SIGHUP)\nprint('on')"
    )
    nohup = lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)  # noqa: E731
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, preexec_fn=nohup)
    assert (done.returncode, done.stdout) == (0, "on\n")


def test_an_interruption_leaves_with_130_and_says_how_to_go_on(monkeypatch, capsys):
    fails_with(monkeypatch, KeyboardInterrupt())
    assert run(["tune", "gpu=h200", FEW]) == 130
    assert "run the same command again" in capsys.readouterr().err


@pytest.mark.parametrize(("number", "code"), [(errno.ENOSPC, 4), (errno.EROFS, 2), (errno.EACCES, 2), (errno.ENOENT, 2)])
def test_a_full_disk_or_a_read_only_path_has_its_own_code(number, code, monkeypatch, capsys):
    fails_with(monkeypatch, OSError(number, os.strerror(number), "/data/pin.yaml"))
    assert run(["tune", "gpu=h200", FEW]) == code
    text = capsys.readouterr().err
    assert "/data/pin.yaml" in text and text.count("\n") == 1


def test_an_error_of_the_store_keeps_the_code_it_carries(monkeypatch, capsys):
    from store.errors import DiskFull

    fails_with(monkeypatch, DiskFull("the disk under x.db is full; free some space"))
    assert run(["tune", "gpu=h200", FEW]) == 4
    assert capsys.readouterr().err == "attnpin: the disk under x.db is full; free some space\n"


@pytest.mark.parametrize(
    ("arguments", "codes"),
    [
        (f"tune --cfg job {FEW}", {141}),
        (f"tune --info searchpath {FEW}", {0, 141}),  # logging takes note of nothing
        (f"tune --info all {FEW}", {0, 141}),
        ("tune --help", {141}),
        ("plan", {141}),
    ],
)
def test_a_reader_that_goes_away_is_no_error(arguments, codes):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    writer = subprocess.Popen([*COMMAND, *arguments.split()], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert writer.stdout and writer.stderr
    writer.stdout.close()
    assert writer.stderr.read() == b""
    assert writer.wait(60) in codes
