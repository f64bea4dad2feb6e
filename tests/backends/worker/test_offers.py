"""Which releases there are: in a folder of wheels, or by the word of an index."""

from __future__ import annotations

from pathlib import Path

import pytest

from backends.driver import Refused
from backends.worker import installer, offers


def says(out: str, code: int = 0, err: str = "") -> list[str]:
    """A command that answers as pip would, whatever distribution it is asked for."""
    return ["sh", "-c", f"printf '%s' '{out}'; printf '%s' '{err}' >&2; exit {code}"]


def test_a_folder_of_wheels_offers_its_files(tmp_path: Path) -> None:
    for name in ("b-1.0-py3-none-any.whl", "a-2.0-py3-none-any.whl"):
        (tmp_path / name).touch()
    assert offers.offered("a", str(tmp_path)) == {"files": ["a-2.0-py3-none-any.whl", "b-1.0-py3-none-any.whl"]}
    with pytest.raises(Refused, match="--wheels .*missing is no folder where the worker runs"):
        offers.offered("a", str(tmp_path / "missing"))


def test_an_index_offers_what_pip_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installer, "listing", lambda: says("a (0.6.1)\nAvailable versions: 0.6.1, 0.6.0rc1, 0.5.3\n  INSTALLED: 0.5.3\n"))
    assert offers.offered("a", None) == {"versions": ["0.6.1", "0.6.0rc1", "0.5.3"]}


@pytest.mark.parametrize("answer", [says("", 1, "one\ntwo\n\nERROR: No matching distribution found for a"), says("a (0.6.1)")])
def test_an_index_that_does_not_say_is_told_with_its_last_words_and_what_to_do(answer: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installer, "listing", lambda: answer)
    with pytest.raises(Refused, match=r"name them with --releases \((No matching distribution found for a\)$|the installer said)"):
        offers.offered("a", None)


def test_pip_is_run_by_uv_on_its_index_where_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installer, "has_pip", lambda: False)
    monkeypatch.setattr(installer.shutil, "which", lambda name: "/bin/uv")
    monkeypatch.setenv("UV_INDEX_URL", "https://index.example/simple")
    words = installer.listing()
    assert words[:3] == ["/bin/uv", "tool", "run"] and words[-2:] == ["--index-url", "https://index.example/simple"]
    monkeypatch.setattr(installer.shutil, "which", lambda name: None)
    with pytest.raises(Refused, match="neither pip nor uv"):
        installer.listing()
    with pytest.raises(Refused, match="neither uv nor pip"):
        installer.installing()
