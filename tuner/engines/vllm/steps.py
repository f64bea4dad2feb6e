"""What vLLM prints while it serves, every ten seconds (vllm/v1/metrics/loggers.py, 0.33.0), and which of its options bear on it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tuner.engines.remedies import Remedies
from tuner.engines.vllm.printed import ARGUMENTS, CONFIG
from tuner.logs.numerals import COUNT, DECIMAL
from tuner.logs.steps import Began, Decoded, Event, Prefill, Retracted

WORDS: tuple[str, ...] = ("Avg generation throughput", "non-default args", "LLM engine")
BEGINS: tuple[bytes, ...] = (b"non-default args: ", b"LLM engine (v")
STATE = re.compile(
    rf"Avg prompt throughput: (?P<prompt>{DECIMAL}) tokens/s, Avg generation throughput: (?P<speed>{DECIMAL}) tokens/s, "
    rf"Running: (?P<running>{COUNT}) reqs, Waiting: (?P<waiting>{COUNT}) reqs"
)
PREEMPTED = re.compile(rf"Preemptions: ({COUNT})")
USAGE = re.compile(rf"KV cache usage: ({DECIMAL})%")

REMEDIES = Remedies(
    graph_sizes="capture them with --max-cudagraph-capture-size {batch}",
    graphs_on="take --enforce-eager, or what turned them off, out of the server's command",
    pool="give the pool more memory (--gpu-memory-utilization), or take fewer requests at once (--max-num-seqs)",
    queue="add a replica, or let more run at once (--max-num-seqs) where the KV pool has room",
    prefills="make their pieces smaller (--max-num-batched-tokens), or serve prefills elsewhere (--kv-transfer-config)",
)


def read(text: str) -> tuple[Event, ...]:
    """What a line tells, in order. Whether a step replayed a graph it does not say."""
    if (state := STATE.search(text)) is not None:
        return tuple(_told(text, state))
    return (Began(),) if ARGUMENTS.search(text) or CONFIG.search(text) else ()


def _told(text: str, state: re.Match[str]) -> Iterator[Event]:
    usage, preempted = USAGE.search(text), PREEMPTED.search(text)
    if float(state["prompt"]) > 0:
        yield Prefill()
    if preempted is not None:
        yield Retracted(int(preempted[1]))
    share = float(usage[1]) / 100 if usage else None
    if int(state["running"]):
        yield Decoded(int(state["running"]), int(state["waiting"]), None, share, None, float(state["speed"]) or None)
