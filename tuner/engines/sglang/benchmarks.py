"""SGLang's own benchmarks (sglang/bench_serving.py, sglang/bench_one_batch.py, 0.5.16; sglang/benchmark/ behind the same names in
0.5.22) and what they write."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from store.serving.serving_run import Level
from tuner.engines.benchmarks import Call, Row, Told, Words, level_of_serving, passes, plain, seen
from tuner.engines.sglang.printed import ARGUMENTS
from tuner.logs.fields import fields
from tuner.logs.lines import Line
from tuner.logs.numerals import COUNT

MODULES: Words = ("sglang.launch_server",)
PROGRAM = "sglang"
MODEL = "--model-path"
WORDS: Words = ("server_args=", "max_total_num_tokens=")
ENDS_SLOWLY = True  # it looks up every 5 s, and kills its own processes in the end (managers/tokenizer_manager.py)
POOL = re.compile(rf"max_total_num_tokens=({COUNT})")
GIVEN = """
from functools import cache
from sglang.benchmark import datasets
from transformers import AutoTokenizer

class Given:
    from_args = classmethod(lambda cls, args: cls())

    def load(self, tokenizer, model_id=None):
        return [datasets.DatasetRow(prompt=ids, prompt_len=len(ids), output_len=output) for ids, output in sent]

datasets.DATASET_MAPPING["random-ids"] = Given
AutoTokenizer.from_pretrained = cache(AutoTokenizer.from_pretrained)  # every pass reads it twice
"""


def serving(url: str, concurrency: Sequence[int], rows: tuple[tuple[Row, ...], ...], results: Path) -> Call:
    """It may send no request of its own before those that are given: a prompt that was sent stays in the cache."""
    words = (
        (
            *("--backend", "sglang", "--base-url", url, "--dataset-name", "random-ids", "--tokenize-prompt"),
            *("--num-prompts", str(len(some)), "--max-concurrency", str(at_once), "--request-rate", "inf"),
            *("--warmup-requests", "0", "--disable-tqdm", "--output-file", str(file)),
        )
        for some, (at_once, file) in zip(rows, passes(concurrency, results), strict=True)
    )
    return Call("sglang.bench_serving", tuple(words), rows, GIVEN)


def one_batch(arguments: Words, batches: Sequence[int], prompt: int, output: int, results: Path) -> Call:
    """It warms up by itself, at the first batch."""
    words = ("--input-len", str(prompt), "--output-len", str(output), "--batch-size", *map(str, batches))
    return Call("sglang.bench_one_batch", ((*arguments, *words, "--result-filename", str(results)),))


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
