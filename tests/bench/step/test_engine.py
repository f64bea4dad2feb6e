"""What is asked of SGLang's benchmark, and what is made of its results."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

import pytest

from store.scenario import Engine
from tests.bench.step.cells import RUNS
from tests.bench.step.engine import ALTERNATE, EngineFailed, command_of, run_engine, run_turns
from tests.bench.step.rows import Turns
from tests.tuner.scenarios import ENGINE

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


@pytest.fixture(scope="module")
def turned() -> tuple[tuple[Turns, ...], tuple[str, ...]]:
    return run_turns(("fa3", "triton", "unbuildable", "fa4/fa3", "triton/stumbling"), HERE)


def test_arms_in_turns_have_a_value_a_run_of_every_size(turned: tuple[tuple[Turns, ...], tuple[str, ...]]) -> None:
    found, _ = turned
    sizes = {f"{batch}x{tokens}" for batch in (1, 16, 64) for tokens in (512, 2048, 4096)}
    decode = {each.cell.removeprefix("decode-") for each in found if each.cell.startswith("decode")}
    assert decode == sizes - {"64x2048"}, "the size that runs out of memory"
    assert {each.cell for each in found if each.cell.startswith("prefill")} == {
        f"prefill-{size}" for size in ("1x512", "1x2048", "1x4096", "16x512")
    }
    assert {each.arm for each in found if each.cell.startswith("decode")} == {"fa3", "triton", "fa4/fa3"}
    assert {len(each.ms) for each in found} == {RUNS}


def test_each_arm_takes_the_steps_of_its_own_decode_backend(turned: tuple[tuple[Turns, ...], tuple[str, ...]]) -> None:
    ms = {(each.arm, value) for each in turned[0] if each.cell.startswith("decode") for value in each.ms}
    assert ms == {("fa3", 5.0), ("triton", 6.0), ("fa4/fa3", 5.0)}
    assert {value for each in turned[0] if each.cell == "prefill-16x512" for value in each.ms} == {16.0}


def test_what_an_engine_in_turns_lacks_is_named_and_the_rest_is_kept(turned: tuple[tuple[Turns, ...], tuple[str, ...]]) -> None:
    stumbles = [f"decode-{batch}x{tokens} triton/stumbling: KeyError: 'stumbling'" for batch in (1, 16, 64) for tokens in (512, 2048, 4096)]
    memory = [f"decode-64x2048 {arm}: MemoryError: CUDA out of memory" for arm in ("fa3", "triton", "fa4/fa3", "triton/stumbling")]
    assert turned[1] == ("unbuildable: ImportError: No module named 'flash_attn'", *stumbles[:7], *memory, *stumbles[8:])
    with pytest.raises(EngineFailed, match="no end within 0 s"):
        run_turns(("fa3",), HERE, 0.01)


@pytest.mark.engine
def test_the_engine_has_what_taking_turns_uses() -> None:
    """SGLang 0.5.16's own source: nothing else of it can run without a GPU."""
    found = Path(".cache/engine-0.5.16/sglang")
    if not found.exists():
        pytest.skip("SGLang 0.5.16 is not there: make engines")
    one_batch = ast.parse((found / "benchmark" / "one_batch.py").read_text())
    known = {node.name for node in one_batch.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    known |= {alias.name for node in one_batch.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    ours = ast.parse(ALTERNATE.read_text())
    used = {node.attr for node in ast.walk(ours) if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "one_batch"}
    assert used and used <= known
    runner = (found / "srt" / "model_executor" / "model_runner.py").read_text()
    for name in ("init_attention_backends", "init_decode_cuda_graph"):
        assert f"def {name}(self" in runner
    for name in ("attn_backend", "decode_cuda_graph_runner", "prefill_attention_backend_str", "decode_attention_backend_str"):
        assert f"self.{name} =" in runner
