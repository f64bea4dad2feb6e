"""SGLang's own benchmarks (sglang/bench_serving.py, sglang/bench_one_batch.py, 0.5.16; sglang/benchmark/ behind the same names in
0.5.22) and what they write."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from store.serving_run import Level, Sent
from tuner.engines.benchmarks import SPREAD, Call, Told, Words, level_of_serving, passes, plain, seen
from tuner.engines.sglang.printed import ARGUMENTS
from tuner.logs.fields import fields
from tuner.logs.lines import Line

MODULES: Words = ("sglang.launch_server",)
PROGRAM = "sglang"
MODEL = "--model-path"
WORDS: Words = ("server_args=", "max_total_num_tokens=")
POOL = re.compile(r"max_total_num_tokens=(\d+)")


def serving(url: str, sent: Sent, results: Path) -> Call:
    return Call("sglang.bench_serving", passes(sent, results, lambda *each: _pass(url, *each)))


def _pass(url: str, sent: Sent, place: int, results: Path) -> Words:
    """Prompts go as token ids, so that every tokenizer gives the same lengths, which are drawn between ratio x length and the length; the
    cache is emptied before they are timed."""
    ratio = (1 - SPREAD) / (1 + SPREAD)
    return (
        *("--backend", "sglang", "--base-url", url, "--dataset-name", "random-ids", "--tokenize-prompt"),
        *("--random-input-len", str(_longest(sent.prompt_tokens)), "--random-output-len", str(_longest(sent.output_tokens))),
        *("--random-range-ratio", f"{ratio:.6f}", "--num-prompts", str(sent.requests[place])),
        *("--max-concurrency", str(sent.concurrency[place]), "--request-rate", "inf", "--seed", str(sent.seed + place)),
        *("--warmup-requests", "1", "--flush-cache", "--disable-tqdm", "--output-file", str(results)),
    )


def _longest(mean: int) -> int:
    return max(1, round(mean * (1 + SPREAD)))


def one_batch(arguments: Words, sent: Sent, results: Path) -> Call:
    """It warms up by itself, at the first batch."""
    lengths = ("--input-len", str(sent.prompt_tokens), "--output-len", str(sent.output_tokens))
    batches = ("--batch-size", *map(str, sent.concurrency))
    return Call("sglang.bench_one_batch", ((*arguments, *lengths, *batches, "--result-filename", str(results)),))


def level(concurrency: int, requests: int, result: Mapping[str, Any]) -> Level:
    return _of_one_batch(concurrency, result) if "prefill_latency" in result else level_of_serving(concurrency, requests, result)


def _of_one_batch(concurrency: int, result: Mapping[str, Any]) -> Level:
    """The medians of one batch's steps; it knows no percentile."""
    prefill_s, decode_s, total_s = (seen(result, f"{name}_latency") for name in ("prefill", "median_decode", "total"))
    return Level(
        concurrency=concurrency,
        itl_ms=None if decode_s is None else 1000 * decode_s,
        itl_p99_ms=None,
        ttft_ms=None if prefill_s is None else 1000 * prefill_s,
        ttft_p99_ms=None,
        output_tokens_per_s=None if total_s is None else concurrency * result["output_len"] / total_s,
    )


def told(lines: Iterable[Line]) -> Told:
    pool, arguments = None, dict[str, Any]()
    for line in lines:
        if match := POOL.search(line.text):
            pool = int(match[1])
        elif match := ARGUMENTS.search(line.text):
            arguments = fields(line.text[match.end() :])
    return Told(pool, plain(arguments))
