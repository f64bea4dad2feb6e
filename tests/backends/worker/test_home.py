from __future__ import annotations

import os
import pathlib
import tempfile

import pytest

from backends.worker import home


@pytest.fixture(autouse=True)
def temporary(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def test_a_home_that_works_is_kept(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    home.ensure()
    assert os.environ["HOME"] == str(tmp_path)


@pytest.mark.parametrize("value", ["/no/such/folder", "relative", "/proc/version"])
def test_a_home_that_does_not_is_replaced_by_one_that_later_processes_find(
    value: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(2):
        monkeypatch.setenv("HOME", value)
        home.ensure()
        assert os.environ["HOME"] == str(tmp_path / f"attnpin-home-{os.getuid()}")
    assert pathlib.Path(os.environ["HOME"]).stat().st_mode & 0o777 == 0o700


def test_a_name_taken_by_somebody_else_is_avoided(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/no/such/folder")
    (tmp_path / f"attnpin-home-{os.getuid()}").symlink_to(tmp_path)
    home.ensure()
    assert pathlib.Path(os.environ["HOME"]).name != f"attnpin-home-{os.getuid()}"
    assert os.access(os.environ["HOME"], os.W_OK)


def test_an_account_without_an_entry_gets_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(home, "_has_name", lambda: False)
    monkeypatch.delenv("USER", raising=False)
    home.ensure()
    assert os.environ["USER"] == f"uid{os.getuid()}"
    monkeypatch.delenv("USER")
