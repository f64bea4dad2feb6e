from __future__ import annotations

import fcntl
import os
import pathlib
import stat
import time

import pytest

from backends.worker import lock


class HeldElsewhere:
    """Another open file description of the lock, as another process would have."""

    def __init__(self, path: pathlib.Path) -> None:
        self.descriptor = os.open(path, os.O_RDWR)
        fcntl.flock(self.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def release(self) -> None:
        os.close(self.descriptor)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock, "POLL_S", 0.01)
    monkeypatch.setattr(lock, "SAY_S", 0.05)


def nobody_holds(owner: str) -> None:
    raise AssertionError(f"waits for {owner}")


def test_a_free_lock_is_taken_and_open_to_other_users(tmp_path: pathlib.Path) -> None:
    old = os.umask(0o077)
    try:
        assert lock.take("GPU-12/ab", "anna", nobody_holds, tmp_path) is None
    finally:
        os.umask(old)
    file = tmp_path / "attnpin-GPU-12-ab.lock"
    assert stat.S_IMODE(file.stat().st_mode) == 0o666
    with pytest.raises(BlockingIOError):
        HeldElsewhere(file)


@pytest.mark.parametrize(
    ("contents", "owner"), [('{"owner": "bob since 10:00"}', "bob since 10:00"), ("{torn", "another run"), ("[]", "another run")]
)
def test_a_held_lock_is_waited_for_and_its_holder_named(tmp_path: pathlib.Path, contents: str, owner: str) -> None:
    file = tmp_path / "attnpin-k.lock"
    file.write_text(contents)
    held = HeldElsewhere(file)
    said: list[str] = []

    def waiting(name: str) -> None:
        said.append(name)
        if len(said) == 2:
            held.release()

    started = time.monotonic()
    assert lock.take("k", "anna", waiting, tmp_path) is None
    assert said == [owner, owner]
    assert time.monotonic() - started >= 0.05


def test_a_passing_lock_leaves_no_file_and_whoever_waited_at_the_old_one_holds_the_new(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "attnpin-k.lock"
    first = lock.passing("k", "bob", nobody_holds, tmp_path)
    first.__enter__()

    def waiting(owner: str) -> None:
        assert owner == "bob"
        first.__exit__(None, None, None)

    with lock.passing("k", "anna", waiting, tmp_path):
        assert '"anna"' in file.read_text()
        with pytest.raises(BlockingIOError):
            HeldElsewhere(file)
    assert not list(tmp_path.iterdir())


def test_what_a_dead_run_left_is_overwritten(tmp_path: pathlib.Path) -> None:
    (tmp_path / "attnpin-k.lock").write_text('{"owner": "a run long dead", "pid": 1}' + " " * 200)
    assert lock.take("k", "anna", nobody_holds, tmp_path) is None
    assert (tmp_path / "attnpin-k.lock").read_text() == f'{{"owner": "anna", "pid": {os.getpid()}}}'


def test_a_folder_that_cannot_be_written_is_said(tmp_path: pathlib.Path) -> None:
    caution = lock.take("k", "anna", nobody_holds, tmp_path / "missing")
    assert caution is not None and "attnpin-k.lock cannot be opened (No such file or directory)" in caution


def test_a_link_planted_under_the_name_is_not_followed(tmp_path: pathlib.Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (tmp_path / "attnpin-k.lock").symlink_to(victim)
    assert lock.take("k", "anna", nobody_holds, tmp_path) is not None
    assert victim.read_text() == "precious"


def test_a_pipe_under_the_name_is_no_lock(tmp_path: pathlib.Path) -> None:
    os.mkfifo(tmp_path / "attnpin-k.lock")
    caution = lock.take("k", "anna", nobody_holds, tmp_path)
    assert caution is not None and "attnpin-k.lock cannot be opened (it is no regular file)" in caution


def test_a_folder_is_waited_for_and_given_back(tmp_path: pathlib.Path) -> None:
    with lock.alone(tmp_path, "anna", nobody_holds):
        said: list[str] = []

        def waiting(name: str) -> None:
            said.append(name)
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt), lock.alone(tmp_path, "bob", waiting):
            pass
    assert said == ["anna"]
    with lock.alone(tmp_path, "bob", nobody_holds):
        pass
