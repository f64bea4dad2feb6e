"""Where a worker's code comes from."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tuner.workers.asking import answer_of, trial
from tuner.workers import process
from tuner.workers.process import Worker
from tuner.workers.room import LOCK, unpacked


def marked(room: Path, text: str) -> None:
    """So that who takes the code from ``room`` answers with ``text``."""
    (file,) = room.rglob("misbehaving.py")
    file.write_text(file.read_text().replace('"fine"', f'"{text}"'))


@pytest.mark.parametrize(("seen", "answer"), [(True, "of the room"), (False, "fine")])
def test_a_worker_takes_its_code_from_the_room_where_it_sees_it_and_from_the_line_elsewhere(
    seen: bool, answer: str, misbehaving: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = Path(unpacked.__wrapped__(misbehaving) or "")
    marked(room, "of the room")
    monkeypatch.setattr(process, "unpacked", lambda code: str(room if seen else tmp_path / "of another machine"))
    with Worker([sys.executable], code=misbehaving) as worker:
        assert answer_of(worker, trial("works")) == answer
    assert room.is_dir()  # for the next one


def test_without_a_place_for_it_there_is_none(monkeypatch: pytest.MonkeyPatch, misbehaving: bytes) -> None:
    def full(**_: object) -> str:
        raise OSError("no space")

    monkeypatch.setattr("tempfile.mkdtemp", full)
    assert unpacked.__wrapped__(misbehaving) is None


def test_it_goes_with_the_process_that_made_it_and_not_with_a_fork(tmp_path: Path) -> None:
    code = (
        "import os, sys; from tuner.workers.bundle import bundle; from tuner.workers.room import unpacked\n"
        "room = unpacked(bundle())\n"
        "if os.fork() == 0: sys.exit()\n"
        "os.wait(); print(os.path.isdir(room), unpacked(bundle()) == room)"
    )
    told = subprocess.run([sys.executable, "-c", code], env={**os.environ, "TMPDIR": str(tmp_path)}, capture_output=True, text=True)
    assert told.stdout == "True True\n" and not list(tmp_path.iterdir())


def test_what_a_process_that_was_killed_left_behind_goes_with_the_next_one(tmp_path: Path) -> None:
    ends = {"killed": "os.kill(os.getpid(), 9)", "working": "print(unpacked(bundle()), flush=True); time.sleep(60)"}
    code = "import os, time; from tuner.workers.bundle import bundle; from tuner.workers.room import unpacked; unpacked(bundle()); "
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", code + ends["killed"]], env=environment)
    (left,) = tmp_path.iterdir()
    with subprocess.Popen([sys.executable, "-c", code + ends["working"]], env=environment, stdout=subprocess.PIPE, text=True) as working:
        kept = Path((working.stdout or io.StringIO()).readline().strip())
        for folder in (left, kept):
            os.utime(folder / LOCK, (0, 0))  # made long ago
        subprocess.run([sys.executable, "-c", code], env=environment, check=True)
        assert [*tmp_path.iterdir()] == [kept]
        working.kill()
