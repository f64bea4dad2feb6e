"""What SGLang's scheduler prints while it serves (sglang/srt/managers/scheduler_components/metrics_reporter.py, pool_stats_observer.py and
sglang/srt/managers/scheduler.py, 0.5.16 and 0.5.22), and which of its options bear on it. Pure."""

from __future__ import annotations

import re

from tuner.engines.remedies import Remedies
from tuner.engines.sglang.printed import ARGUMENTS, STEP
from tuner.logs.numerals import COUNT, DECIMAL
from tuner.logs.steps import Began, Decoded, Event, Prefill, Retracted

WORDS: tuple[str, ...] = ("Decode batch", "Prefill batch", "Retract requests", "server_args=")
BEGINS: tuple[bytes, ...] = (b"server_args=",)
DECODE = re.compile(rf"Decode batch\b.*?#running-req: (?P<running>{COUNT})")
QUEUED = re.compile(rf"#queue-req: ({COUNT})")
TOKENS = re.compile(rf"#(?:full )?token: ({COUNT})")
USAGE = re.compile(rf"(?<!swa )(?<!gpu )(?<!cpu )token usage: ({DECIMAL})")
SPEED = re.compile(rf"gen throughput \(token/s\): ({DECIMAL})")
RETRACTED = re.compile(rf"KV cache pool is full\. Retract requests\.(?: #retracted_reqs: (?P<requests>{COUNT}))?")

REMEDIES = Remedies(
    graph_sizes="capture them with --cuda-graph-max-bs-decode {batch} (before 0.5.16 --cuda-graph-max-bs)",
    graphs_on="take --disable-cuda-graph, or what turned them off, out of the server's command",
    pool="give the pool more memory (--mem-fraction-static), or take fewer requests at once (--max-running-requests)",
    queue="add a replica, or let more run at once (--max-running-requests) where the KV pool has room",
    prefills="make their pieces smaller (--chunked-prefill-size), or serve prefills elsewhere (--disaggregation-mode)",
)


def read(text: str) -> tuple[Event, ...]:
    """What a line tells, in order."""
    if (decode := DECODE.search(text)) is not None:
        running = int(decode["running"])
        return (_decoded(text, running),) if running else ()  # the last one has just ended
    if "Prefill batch" in text:
        return (Prefill(),)
    if (retracted := RETRACTED.search(text)) is not None:
        return (Retracted(int(retracted["requests"] or 1)),)
    return (Began(),) if ARGUMENTS.search(text) else ()


def _decoded(text: str, running: int) -> Decoded:
    queued, tokens, usage, speed, step = (pattern.search(text) for pattern in (QUEUED, TOKENS, USAGE, SPEED, STEP))
    return Decoded(
        running=running,
        queued=int(queued[1]) if queued else None,
        tokens=int(tokens[1]) if tokens else None,
        usage=float(usage[1]) if usage else None,
        inside=step["inside"] == "True" if step else None,
        tokens_per_s=float(speed[1]) if speed else None,
    )
