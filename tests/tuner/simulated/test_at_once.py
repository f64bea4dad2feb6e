"""Two commands that would store the same of a simulated GPU: the second waits, as it would for a GPU of its own kind."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from backends.worker.lock import passing
from tests.tuner.simulated.telling import TWO_ARMS, told, tune_line, tuned, url_in
from tuner.device.session_of import claim_of
from tuner.settings import compose


def never(owner: str) -> None:
    raise AssertionError(f"waits for {owner}")


def test_the_same_scenario_waits_in_one_store_and_in_no_other(tmp_path: Path) -> None:
    held = claim_of(replace(compose(TWO_ARMS), store_url=url_in(tmp_path)))
    with passing(held, "attnpin tune model=qwen3_8b", never):
        waited = told(tmp_path, *tune_line(tmp_path, "wait_for_gpu=0s"))
        (other := tmp_path / "other").mkdir()
        assert told(other, *tune_line(other, "wait_for_gpu=0s")).code == 0
    assert waited.code == 4
    assert "held by attnpin tune model=qwen3_8b, and it is not waited for; " in waited.err


def test_one_name_in_two_folders_is_two_stores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, claims = compose([*TWO_ARMS, "store.url=sqlite:///a.db"]), set()
    for name in ("one", "two", "one/../two"):
        (tmp_path / name).mkdir(exist_ok=True)
        monkeypatch.chdir(tmp_path / name)
        claims.add(claim_of(asked))
    assert len(claims) == 2


def test_another_scenario_does_not_wait(tmp_path: Path) -> None:
    held = claim_of(replace(compose(TWO_ARMS), store_url=url_in(tmp_path)))
    with passing(held, "attnpin tune model=qwen3_8b", never):
        assert tuned(tmp_path, "measure.seed=7", "wait_for_gpu=0s").code == 0
