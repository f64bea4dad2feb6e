"""vLLM's own benchmark, `vllm bench serve` (vllm/benchmarks/serve.py, 0.33.0), and what it writes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from store.serving_run import Level, Sent
from tuner.engines.benchmarks import SPREAD, Call, Told, Words, level_of_serving, passes, plain
from tuner.engines.vllm.printed import ARGUMENTS
from tuner.errors import UsageError
from tuner.logs.fields import fields
from tuner.logs.lines import Line

MODULES: Words = ("vllm.entrypoints.openai.api_server", "vllm.entrypoints.cli.main")
PROGRAM = "vllm"
MODEL = "--model"
WORDS: Words = ("non-default args", "KV cache size")
POOL = re.compile(r"KV cache size: ([\d,]+) tokens")  # vllm/v1/core/kv_cache_utils.py


def serving(url: str, sent: Sent, results: Path) -> Call:
    return Call("vllm.entrypoints.cli.main", passes(sent, results, lambda *each: _pass(url, *each)))


def _pass(url: str, sent: Sent, place: int, results: Path) -> Words:
    """Lengths are drawn between 1 - ratio and 1 + ratio of the length. Every pass has a seed of its own, so that none finds another's
    prompts in the prefix cache."""
    return (
        *("bench", "serve", "--base-url", url, "--dataset-name", "random", "--ignore-eos", "--random-range-ratio", str(SPREAD)),
        *("--random-input-len", str(sent.prompt_tokens), "--random-output-len", str(sent.output_tokens)),
        *("--num-prompts", str(sent.requests[place]), "--max-concurrency", str(sent.concurrency[place])),
        *("--seed", str(sent.seed + place), "--percentile-metrics", "ttft,itl", "--metric-percentiles", "99", "--disable-tqdm"),
        *("--save-result", "--append-result", "--result-dir", str(results.parent), "--result-filename", results.name),
    )


def one_batch(arguments: Words, sent: Sent, results: Path) -> Call:
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
