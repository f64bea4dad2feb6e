"""What is asked of SGLang's benchmark, and what is made of its results."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from store.scenario import Engine
from tests.bench.step.engine import EngineFailed, command_of, run_engine
from tests.tuner.planning import ENGINE

HERE: Engine = replace(ENGINE, path=(str(Path(__file__).with_name("standin")),))


def test_every_size_of_one_process_becomes_a_step_in_milliseconds() -> None:
    found = run_engine("triton", HERE)
    assert [step.cell for step in found] == [f"{batch}x{tokens}" for batch in (1, 16, 64) for tokens in (512, 2048)]
    assert {(step.decode_ms, step.prefill_ms) for step in found} == {(6.0, 250.0)}


def test_a_pair_decodes_with_its_second_backend() -> None:
    words = command_of("fa4/fa3", HERE, Path("results.jsonl"))
    assert words[-4:] == ("--prefill-attention-backend", "fa4", "--decode-attention-backend", "fa3")
    assert {step.decode_ms for step in run_engine("fa4/fa3", HERE)} == {5.0}


def test_a_benchmark_that_ends_without_results_leaves_its_last_words() -> None:
    with pytest.raises(EngineFailed, match="CUDA out of memory"):
        run_engine("broken", HERE)
