"""What a trace is like in a few numbers: as traffic that is made up from its lengths would be described."""

from __future__ import annotations

import numpy as np

from tuner.traffic.trace import Trace

Lengths = dict[str, int]  # by the keys of the group `traffic`


def summary(trace: Trace) -> dict[str, Lengths]:
    """Of prompts and outputs, at least one token each."""
    if trace.requests is not None:
        both = {"prompt": trace.requests.prompt, "output": trace.requests.output}
        return {name: _lengths(*np.percentile(tokens, (50, 95))) for name, tokens in both.items()}
    assert trace.logged is not None
    mean = trace.logged.output_length()
    return {"prompt": _lengths(*trace.logged.prompt_lengths()), "output": _lengths(mean, mean)}


def _lengths(median: float, p95: float) -> Lengths:
    return {"median_tokens": max(1, round(float(median))), "p95_tokens": max(1, round(float(p95)))}
