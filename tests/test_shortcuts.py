"""What the tests take a shorter way to comes out as on the long one."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path

import pytest
from omegaconf import OmegaConf
from sqlalchemy import create_engine

from store.database.schema import SCRIPTS
from tests import composed_once, light_sqlite
from tuner.errors import UsageError

COMPOSED = (
    ("model=qwen3_8b", "gpu=h200", "traffic=chat", "engine.tensor_parallel=4", "store.url=sqlite:////tmp/a.db"),
    ("model=qwen3_8b", "gpu=h200", "traffic=chat", "pin.path='it is/pin.yaml'", "measure.timing={replays: 3, blocks: 4}"),
    ("backend=[torch_native,triton]", "measure=gate", "measure.processes=3", "backends.torch_native.drivers=[]", "+engine.more=1"),
    ("engine=vllm", "traffic.prompt.p95_tokens=${traffic.prompt.median_tokens}", "fresh=true", "decide.min_gain=0.1"),
    ("gpu=simulated", "gpu.simulated.noise.process_pct=0", "gpu.simulated.faults=[{kind: nans, backend: fa3}]"),
)
REFUSED = (
    ("model=qwen3_8b", "gpu=h200", "engine.tensor_paralel=4"),
    ("gpu=h200", "model=qwen3_8", "engine.tensor_parallel=4"),
    ("gpu=h200", "gpu.simulated.noise.process_pct=0"),
    ("gpu=h200", "engine.tensor_parallel=1,2"),
    ("gpu=h200", "store.url=sqlite:////tmp/a=b.db"),
    ("gpu=h200", "measure.processes=few"),
)


def told(compose: composed_once.Composer, words: Sequence[str]) -> object:
    try:
        cfg, backends = compose(words, None)
    except UsageError as error:
        return str(error)
    return OmegaConf.to_container(cfg), backends


def test_a_configuration_composed_once_is_the_one_that_hydra_composes_and_refuses_the_same() -> None:
    remembered = composed_once.remembering(composed_once.BY_HYDRA)
    for words in (*COMPOSED, *REFUSED):
        by_hydra = told(composed_once.BY_HYDRA, words)
        assert isinstance(by_hydra, str) is (words in REFUSED)
        assert [told(remembered, words) for _ in range(2)] == [by_hydra] * 2, words


def test_a_folder_of_groups_is_read_again_once_a_file_of_it_changes(tmp_path: Path) -> None:
    remembered = composed_once.remembering(composed_once.BY_HYDRA)
    (tmp_path / "traffic").mkdir()
    for tokens in (7, 8):
        (tmp_path / "traffic" / "ours.yaml").write_text(f"name: ours\nconcurrency: {tokens}\n")
        assert remembered(["traffic=ours"], str(tmp_path))[0].traffic.concurrency == tokens
    with pytest.raises(UsageError, match="is not a folder"):
        remembered(["traffic=ours"], str(tmp_path / "nowhere"))


def test_the_second_database_has_the_tables_that_alembic_gave_the_first(tmp_path: Path) -> None:
    upgrade = light_sqlite.remembering(light_sqlite.BY_ALEMBIC)
    for name in ("first", "second"):
        with create_engine(f"sqlite:///{tmp_path}/{name}").begin() as connection:
            upgrade(connection, SCRIPTS)
    first, second = (list(sqlite3.connect(tmp_path / name).iterdump()) for name in ("first", "second"))
    assert first == second and len(first) > 30
