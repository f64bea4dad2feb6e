"""A tuner that was told what another process chose, as Triton's keeps and asks its cache."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from backends.timing.autotuned import LENGTH, choices
from backends.timing.replayed_choices import replay


class Autotuner:
    """Takes the last configuration unless its cache holds the problem."""

    def __init__(self, name: str, configs: list[str]) -> None:
        self.base_fn = SimpleNamespace(__name__=name)
        self.configs = configs
        self.cache: dict[Any, Any] = {}
        self.timed: list[Any] = []

    def run(self, key: object) -> str:
        if key not in self.cache:
            self.timed.append(key)
            self.cache[key] = self.configs[-1]
        return str(self.cache[key])


@pytest.fixture
def triton(monkeypatch: pytest.MonkeyPatch) -> type[Autotuner]:
    kind = type("Autotuner", (Autotuner,), {})
    monkeypatch.setitem(sys.modules, "triton.runtime.autotuner", SimpleNamespace(Autotuner=kind))  # type: ignore[arg-type]
    return kind


def test_a_problem_is_not_timed_again_and_its_choice_is_the_other_process_s(triton: type[Autotuner]) -> None:
    first = triton("_decode", ["BLOCK: 32", "BLOCK: 64"])
    assert first.run((4096, 8)) == "BLOCK: 64"
    told = dict(choices())
    replay({"_decode (4096, 8)": "BLOCK: 32"})
    second = triton("_decode", ["BLOCK: 32", "BLOCK: 64"])
    assert (second.run((4096, 8)), second.timed) == ("BLOCK: 32", [])
    assert told == {"_decode (4096, 8)": "BLOCK: 64"} and dict(choices())["_decode (4096, 8)"] in ("BLOCK: 32", "BLOCK: 64")


def test_what_is_not_known_is_timed(triton: type[Autotuner]) -> None:
    replay({"_decode (4096, 8)": "BLOCK: 16", "_extend (1,)": "BLOCK: 32"})
    tuner = triton("_decode", ["BLOCK: 32", "BLOCK: 64"])
    assert tuner.run((4096, 8)) == tuner.run((1,)) == "BLOCK: 64"
    assert tuner.timed == [(4096, 8), (1,)]


def test_configurations_that_cannot_be_told_apart_are_timed(triton: type[Autotuner]) -> None:
    alike = "BLOCK: 32, " * LENGTH
    replay({"_decode (4096, 8)": alike[:LENGTH]})
    tuner = triton("_decode", [f"{alike}num_stages: 3", f"{alike}num_stages: 2"])
    assert tuner.run((4096, 8)).endswith("num_stages: 2") and tuner.timed == [(4096, 8)]


def test_without_choices_nothing_is_touched(triton: type[Autotuner]) -> None:
    run = triton.run
    replay({})
    assert triton.run is run


def test_without_triton_it_is_said(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "triton.runtime.autotuner", None)
    replay({"a": "b"})
    assert "no choice is replayed" in capsys.readouterr().err
