from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from store.pins.pin_files import write_pin
from store.runs.run import Run
from store.scenario import Engine, Objective, Speculation
from tests.tuner.building import one_cell_each
from tuner.decide import decide
from tuner.pin import pin_of
from tuner.pinning.predecessor import replaced

RUN = one_cell_each({"fa3": (500.0, 100.0), "flashinfer": (500.0, 50.0)})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the pin of `RUN` stands."""
    path = tmp_path / "pin.yaml"
    decision = decide(RUN)
    write_pin(path, pin_of(RUN, decision, ("", "")), "# why\n", replace(RUN, decision=decision))
    return path


def asking(part: str, **changes: Any) -> Run:
    """`RUN` for a scenario with ``changes`` in one part of it."""
    return replace(RUN, scenario=replace(RUN.scenario, **{part: replace(getattr(RUN.scenario, part), **changes)}))


def test_the_same_question_again_says_nothing(path: Path) -> None:
    assert replaced(path, RUN) is None
    assert replaced(path, replace(RUN, engine_version="0.5.22", environment=replace(RUN.environment, torch="2.12.0"))) is None


def test_what_is_asked_otherwise_is_named_with_both_values(path: Path) -> None:
    assert replaced(path, asking("traffic", concurrency=128)) == (
        f"the pin at {path} was made for another scenario (traffic.concurrency 64 -> 128) and will be replaced; pin.path=FILE keeps it"
    )


@pytest.mark.parametrize(
    ("part", "changes", "said"),
    [
        ("traffic", {"prompt": replace(RUN.scenario.traffic.prompt, median_tokens=3000)}, "traffic.prompt.median_tokens 1000 -> 3000"),
        ("traffic", {"cached_share": 0.0, "name": "rag"}, "traffic chat -> rag, traffic.cached_share 0.3 -> 0.0"),
        ("engine", {"tensor_parallel": 2}, "engine.tensor_parallel 1 -> 2"),
        (
            "engine",
            {"context_length": 4096, "features": ("radix_cache",)},
            "engine.context_length unset -> 4096, engine.features unset -> [",
        ),
        ("engine", {"attention_backend": "triton"}, "engine.attention_backend unset -> triton"),
        (
            "engine",
            {"speculation": Speculation("EAGLE", steps=3)},
            "engine.speculative.algorithm unset -> EAGLE, engine.speculative.steps un",
        ),
        ("model", {"name": "qwen3_8b", "dtype": "float16"}, "model made_up_8b -> qwen3_8b, model.dtype bfloat16 -> float16"),
        ("decide", {"objective": Objective.TPOT}, "decide.objective throughput -> tpot"),
    ],
)
def test_every_kind_of_override_is_seen(path: Path, part: str, changes: dict[str, Any], said: str) -> None:
    assert f"({said}" in str(replaced(path, asking(part, **changes)))


def test_where_the_engine_lies_is_no_part_of_the_question(path: Path) -> None:
    elsewhere: Engine = replace(RUN.scenario.engine, command=("ssh", "host", "python3"), path=("/opt/x",), version="0.5.22")
    assert replaced(path, replace(RUN, scenario=replace(RUN.scenario, engine=elsewhere))) is None


def test_of_an_early_pin_only_what_it_kept_is_compared(path: Path, tmp_path: Path) -> None:
    decision = decide(RUN)
    pin = pin_of(RUN, decision, ("", ""))
    early = replace(pin, valid_for=replace(pin.valid_for, requests=None, settings=()))
    write_pin(tmp_path / "early.yaml", early, "# why\n", replace(RUN, decision=decision))
    assert replaced(tmp_path / "early.yaml", asking("traffic", concurrency=128)) is None
    assert "(engine.tensor_parallel 1 -> 2)" in str(replaced(tmp_path / "early.yaml", asking("engine", tensor_parallel=2)))


def test_no_pin_and_no_readable_pin_have_nothing_to_lose(tmp_path: Path) -> None:
    assert replaced(tmp_path / "none.yaml", RUN) is None
    (tmp_path / "torn.yaml").write_text("<<<<<<< a pin in conflict\n")
    assert replaced(tmp_path / "torn.yaml", RUN) is None
