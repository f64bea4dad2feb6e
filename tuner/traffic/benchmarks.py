"""The result of a serving benchmark (SGLang's `sglang.benchmark.serving`, vLLM's `vllm bench serve`) as the requests it sent."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from tuner.errors import UsageError

PROMPTS, OUTPUTS, STARTS = "input_lens", "output_lens", "start_times"
MARKS = frozenset({"request_throughput", "mean_ttft_ms", "median_ttft_ms", "total_input_tokens"})


def is_result(row: Mapping[str, Any]) -> bool:
    return isinstance(row.get(PROMPTS), list) or len(MARKS & row.keys()) > 1


def requests_of(row: Mapping[str, Any], name: str) -> Iterator[dict[str, Any]]:
    """As rows with columns. Raises `UsageError` for a result without its requests."""
    prompts, outputs = row.get(PROMPTS), row.get(OUTPUTS)
    if not isinstance(prompts, list) or not isinstance(outputs, list) or len(prompts) != len(outputs) or not prompts:
        raise UsageError(
            f"traffic.path={name} is a benchmark's result without the lengths of its requests; run the benchmark with --output-details "
            f"(SGLang) or --save-detailed (vLLM)"
        )
    starts = row.get(STARTS)
    if isinstance(starts, list) and len(starts) == len(prompts):
        yield from ({"arrival_s": at, "prompt_tokens": p, "output_tokens": o} for at, p, o in zip(starts, prompts, outputs))
    else:
        yield from ({"prompt_tokens": p, "output_tokens": o} for p, o in zip(prompts, outputs))


def rate_of(row: Mapping[str, Any]) -> float | None:
    """Requests a second that the benchmark sent; None = as fast as answers came."""
    rate = row.get("request_rate")
    try:
        found = float(rate)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    return found if math.isfinite(found) and found > 0 else None


def at_once_of(row: Mapping[str, Any]) -> int | None:
    most = row.get("max_concurrency")
    return most if isinstance(most, int) and not isinstance(most, bool) and most > 0 else None
