from __future__ import annotations

import pytest

from backends.capability import BackendEntry
from tuner.composing import names
from tuner.composing.shipped import engine_alone, shipped_entries
from tuner.settings import compose_backends

MERGED = "hydra.job.chdir=false"  # of no effect, and reason enough to let Hydra merge
each_engine = pytest.mark.parametrize("engine", names.groups()["engine"])


def merged(engine: str) -> tuple[BackendEntry, ...]:
    return compose_backends([f"engine={engine}", MERGED]).entries


@each_engine
def test_they_are_those_that_a_composed_configuration_has(engine: str) -> None:
    assert sorted(map(repr, shipped_entries(engine))) == sorted(map(repr, merged(engine)))


@each_engine
def test_backends_that_hydra_did_not_merge_are_what_it_makes_of_them(engine: str) -> None:
    assert repr(compose_backends([f"engine={engine}"]).entries) == repr(merged(engine))


@pytest.mark.parametrize(
    ("overrides", "engine"),
    [
        ([], "sglang"),
        (["model=qwen3_8b", "engine.attention_backend=fa3", "measure.backends=[fa3]"], "sglang"),
        (["gpu=h200", "engine=vllm"], "vllm"),
        (["backend=[fa3]"], None),
        (["engine=vllm", "~backend"], None),
        (["backends.fa3.graph=false"], None),
        (["+backend/mine=fa3"], None),
        (["engine=sglang", "engine=vllm"], None),
        (["engine@engine=vllm"], None),
        ([MERGED], None),
    ],
)
def test_an_engine_stands_alone_where_nothing_else_is_said_of_backends(overrides: list[str], engine: str | None) -> None:
    assert engine_alone(overrides) == engine
