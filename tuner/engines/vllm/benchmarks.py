"""vLLM's own benchmark, `vllm bench serve` (vllm/benchmarks/serve.py, 0.33.0), and what it writes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from store.serving.serving_run import Level
from tuner.engines.benchmarks import Call, Row, Told, Words, level_of_serving, passes, plain
from tuner.engines.vllm.printed import ARGUMENTS
from tuner.errors import UsageError
from tuner.logs.fields import fields
from tuner.logs.lines import Line

MODULES: Words = ("vllm.entrypoints.openai.api_server", "vllm.entrypoints.cli.main")
PROGRAM = "vllm"
MODEL = "--model"
WORDS: Words = ("non-default args", "KV cache size")
ENDS_SLOWLY = False
POOL = re.compile(r"KV cache size: (\d[\d,]{0,20}) tokens")  # vllm/v1/core/kv_cache_utils.py


GIVEN = """
from vllm.benchmarks import serve
from vllm.benchmarks.datasets import SampleRequest

def given(args, tokenizer, **more):
    return [SampleRequest(prompt=ids, prompt_len=len(ids), expected_output_len=output) for ids, output in sent]

serve.get_samples = given
"""


def serving(url: str, concurrency: Sequence[int], rows: tuple[tuple[Row, ...], ...], results: Path) -> Call:
    """Without the check for readiness, which sends the first request: a prompt that was sent stays in the cache."""
    words = (
        (
            *("bench", "serve", "--base-url", url, "--dataset-name", "random", "--ignore-eos", "--ready-check-timeout-sec", "0"),
            *("--num-prompts", str(len(some)), "--max-concurrency", str(at_once)),
            *("--percentile-metrics", "ttft,itl", "--metric-percentiles", "99", "--disable-tqdm"),
            *("--save-result", "--append-result", "--result-dir", str(file.parent), "--result-filename", file.name),
        )
        for some, (at_once, file) in zip(rows, passes(concurrency, results), strict=True)
    )
    return Call("vllm.entrypoints.cli.main", tuple(words), rows, GIVEN)


def one_batch(arguments: Words, batches: Sequence[int], prompt: int, output: int, results: Path) -> Call:
    raise UsageError("vLLM has no benchmark of one batch that tells its steps apart; leave --engine-bench out")


def level(concurrency: int, requests: int, result: Mapping[str, Any]) -> Level:
    return level_of_serving(concurrency, requests, result)


def told(lines: Iterable[Line]) -> Told:
    pool, arguments = None, dict[str, Any]()
    for line in lines:
        if match := POOL.search(line.text):
            pool = int(match[1].replace(",", ""))
        elif match := ARGUMENTS.search(line.text):
            arguments = fields(line.text[match.end() :])
    return Told(pool, plain(arguments))
