"""`attnpin compare --attribute` from the command line to the exit code, with comparisons of known truth in the place of measuring."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import tuner.attribute
import tuner.compare
from store.verdicts.verdict import Change
from tests.tuner.attributing.played import FLASHINFER, Upgrade
from tests.tuner.attributing.test_attribute import AFTER, BEFORE, SLOW
from tests.tuner.simulated.telling import Told, told
from tuner.attribute import places_of
from tuner.comparing.env import Env, env_of

Line = Callable[..., Told]


@pytest.fixture
def line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Line:
    def attributed(upgrade: Upgrade, *words: str) -> Told:
        monkeypatch.setattr(tuner.compare, "run_compare", lambda *asked: upgrade.whole())
        monkeypatch.setattr(
            tuner.attribute, "run_compare", lambda envs, overrides, *_, enough, **__: upgrade.compare(envs, overrides, enough)
        )
        return told(tmp_path, "compare", "--candidate", "present", *words)

    return attributed


def test_the_cause_comes_before_the_comparison_it_rests_on(line: Line) -> None:
    found = line(Upgrade(BEFORE, AFTER, SLOW), "--attribute")
    assert found.code == 1 and found.out.startswith(f"cause: flashinfer-python 0.5.3 -> 0.6.1: alone {FLASHINFER} on decode_")
    assert f"\n\nregressed: {FLASHINFER} takes 3.0 times as long" in found.out
    assert "present with triton==3.6.0 beside present" in found.err


def test_a_loss_that_is_not_attentions_is_exit_0_and_markdown_and_json_say_it_too(line: Line) -> None:
    same = Upgrade(BEFORE, AFTER)
    assert line(same, "--observed-loss=0.09").code == 0 and line(same, "--observed-loss=0.0001").code == 3
    assert line(same, "--observed-loss=0.09", "--md").out.startswith("**not attention: ")
    (said,) = line(same, "--observed-loss=0.09", "--json").out.splitlines()
    assert json.loads(said)["attribution"]["finding"] == "not attention" and json.loads(said)["label"] == "equivalent"
    assert line(same, "--observed-loss=1.5").code == 2


def test_where_a_distribution_lies_is_asked_of_the_worker(tmp_path: Path) -> None:
    for folder, name in (("one", "Flashinfer_Python"), ("two", "triton")):
        info = tmp_path / folder / f"{name.lower()}-9.9.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 9.9\n")
    env = env_of(f"path:{tmp_path / 'one'}:{tmp_path / 'two'}")
    changes = [Change(name, "1", "2", ()) for name in ("flashinfer-python", "triton", "torch")]
    places = places_of(env, changes, ["gpu=h200", "model=qwen3_8b", "backend=[torch_native]"], None)
    assert places == {"flashinfer-python": str(tmp_path / "one"), "triton": str(tmp_path / "two")}
    assert places_of(Env("x", folders=env.folders), changes, ["gpu=simulated", "backend=[fa3]"], None) == {}
