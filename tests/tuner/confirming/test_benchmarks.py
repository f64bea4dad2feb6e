"""The engines' own benchmarks: how they are called, and what they write. The recorded results are of SGLang 0.5.16 itself, on a CPU."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.tuner.verifying.pinned import log, raw
from tuner.engines.benchmarks import Row, Told, warmed
from tuner.engines.lookup import benchmarks_of
from tuner.errors import MeasurementInvalid, UsageError
from tuner.logs.lines import lines

HERE = Path(__file__).parent
LEVELS = (1, 64)
ROWS: tuple[tuple[Row, ...], ...] = ((((((9, 3),), 1),) * 64), (((((0, 5), (7, 1)), 4),) * 2), (((((5, 5),), 4),) * 3))
RESULTS = Path("results.jsonl")


def recorded(name: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in (HERE / name).read_text().splitlines()]


def option(words: Sequence[str], name: str) -> str:
    return words[words.index(name) + 1]


def told(engine: str, name: str) -> Told:
    benchmarks = benchmarks_of(engine)
    return benchmarks.told(lines(raw(log(name)), words=benchmarks.WORDS))


@pytest.mark.parametrize("engine", ["sglang", "vllm"])
def test_the_first_pass_warms_up_and_every_other_is_a_concurrency(engine: str) -> None:
    call = benchmarks_of(engine).serving("http://127.0.0.1:1", LEVELS, ROWS, RESULTS)
    warm, *passes = call.passes
    assert [option(words, "--max-concurrency") for words in (warm, *passes)] == ["64", "1", "64"]
    assert [option(words, "--num-prompts") for words in (warm, *passes)] == ["64", "2", "3"] and call.rows == ROWS
    assert warmed(RESULTS).name in warm and all(RESULTS.name in words for words in passes)


def test_what_sglangs_serving_benchmark_writes_is_read() -> None:
    (result,) = recorded("bench_serving-0.5.16.jsonl")
    level = benchmarks_of("sglang").level(8, 20, result)
    assert (level.itl_ms, level.itl_p99_ms) == (result["median_itl_ms"], result["p99_itl_ms"])
    assert (level.ttft_ms, level.ttft_p99_ms) == (result["median_ttft_ms"], result["p99_ttft_ms"])
    assert level.output_tokens_per_s == result["output_throughput"]
    with pytest.raises(MeasurementInvalid, match="20 of 21 requests at concurrency 8 were answered"):
        benchmarks_of("sglang").level(8, 21, result)
    assert benchmarks_of("sglang").level(8, 20, {**result, "median_itl_ms": 0.0}).itl_ms is None


def test_what_sglangs_one_batch_benchmark_writes_is_read() -> None:
    one, four = recorded("bench_one_batch-0.5.16.jsonl")
    level = benchmarks_of("sglang").level(4, 4, four)
    assert level.itl_ms == pytest.approx(1000 * float(str(four["median_decode_latency"]))) and level.itl_p99_ms is None
    assert level.output_tokens_per_s == pytest.approx(4 * 8 / float(str(four["total_latency"])))
    assert one["batch_size"] == 1


def test_one_batch_is_one_program_with_the_servers_arguments() -> None:
    call = benchmarks_of("sglang").one_batch(("--model-path", "m"), LEVELS, 1000, 200, RESULTS)
    (words,) = call.passes
    assert words[:2] == ("--model-path", "m") and words[words.index("--batch-size") + 1 :][:2] == ("1", "64")
    with pytest.raises(UsageError, match="leave --engine-bench out"):
        benchmarks_of("vllm").one_batch((), LEVELS, 1000, 200, RESULTS)


def test_the_pool_and_the_arguments_are_read_from_the_log() -> None:
    found = told("sglang", "sglang-0.5.16-default")
    assert found.pool_tokens == 812345 and dict(found.settings)["chunked_prefill_size"] == "8192"
    assert dict(told("vllm", "vllm-0.33.0-flash-attn").settings)["model"] == "/models/llama"
    said = "(EngineCore_DP0 pid=140) INFO 11-30 08:00:22 [kv_cache_utils.py:1147] GPU KV cache size: 1,234,560 tokens, Maximum concurrency"
    vllm = benchmarks_of("vllm")
    assert vllm.told(lines(raw(said), words=vllm.WORDS)).pool_tokens == 1_234_560
