"""A file for SGLang's `python -m sglang.auto_benchmark run --config FILE`: every pinned flag against leaving it out, under real requests.

A server is started for each combination of `search_space` at tier 3 (at the default 2 the fourth flag would be tried alone); null leaves
a flag out of its command line. Requests are of one length each, prompts and outputs at the medians of the pin's traffic, as many at once
as that has, and sent as fast as that lets them. Source: sglang/auto_benchmark_lib.py 0.5.16, build_candidates, cli_args, build_qps_plan.
"""

from __future__ import annotations

from collections.abc import Iterator

from reports.launchers.header import header, unset
from reports.launchers.launcher import Flag, Launcher, flags_of
from reports.launchers.mark import mark, scalar
from store.pins.pin import Pin

REQUESTS_EACH = 5  # for each that runs at once: what SGLang's guide to its benchmarks asks for at the least


def render(pin: Pin, launcher: Launcher) -> str:
    """A pin that sets nothing gives a file that serves and loads the default alone."""
    flags = flags_of(pin, launcher)
    space = [f"    {line}" for flag in flags for line in _choice(flag, pin.run)]
    return "\n".join(
        [
            *(f"# {line}" for line in header(pin, launcher)),
            "server:",
            "  base_flags:",
            "    model_path: MODEL",
            f"    tp_size: {pin.valid_for.tensor_parallel}",
            *(["  search_space:", *space] if space else [f"  # {unset(pin)}", "  search_space: {}"]),
            *_load(pin),
            "search:",
            "  tier: 3",
            "  max_candidates: null",
            "",
        ]
    )


def _choice(flag: Flag, run: str) -> list[str]:
    return [f"# {mark(run, flag.value, flag.because)}", f"{flag.name.replace('-', '_')}: [null, {scalar(flag.value)}]"]


def _load(pin: Pin) -> Iterator[str]:
    """An early pin kept the name of its traffic alone: the lengths are then SGLang's own."""
    load = pin.valid_for.requests
    yield from ("dataset:", "  kind: random")
    if load is not None:
        yield f"  num_prompts: {REQUESTS_EACH * load.concurrency}"
        yield f"  input_len: {load.prompt.median_tokens}"
        yield f"  output_len: {load.output.median_tokens}"
        yield "  random_range_ratio: 1.0"
    yield "benchmark:"
    if load is not None:
        yield f"  max_concurrency: {load.concurrency}"
    yield "  qps: [.inf]"
