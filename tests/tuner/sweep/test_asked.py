"""A sweep as it is asked for, up to what is kept of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tuner.simulated.telling import TWO_ARMS
from tests.tuner.sweep.scripted import Scripted
from tuner.sweep import asked
from tuner.sweep.asked import run_asked


def test_the_password_of_a_store_reaches_its_job_and_nothing_that_is_kept_or_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Stores that differ set scenarios apart, in their names and the folders of their pins."""
    monkeypatch.chdir(tmp_path)
    executor = Scripted()
    monkeypatch.setattr(asked, "executor_of", lambda settings, again: executor)
    urls = ",".join(f"'postgresql://u:s3cret@{host}/d?sslpassword=s3cret'" for host in "ab")
    assert run_asked([*TWO_ARMS, f"store.url={urls}"], None, False) == 0
    assert all(any("u:s3cret@" in word for word in task.overrides) for task in executor.ran) and len(executor.ran) == 2
    kept = "".join(f"{path} {path.read_text() if path.is_file() else ''}" for path in tmp_path.rglob("*"))
    assert "index.json" in kept and "s3cret" not in kept + "".join(capsys.readouterr())
    assert not any("s3cret" in word for task in executor.ran for word in task.overrides if word.startswith("pin.path="))
