"""How long the requests are that both sides are sent, and how much of each stands in the prefix cache. Pure."""

from __future__ import annotations

from random import Random

import numpy as np

from store.traffic import Lengths, Traffic
from tuner.traffic.requests import Ints, Requests
from tuner.workload.lengths import length_at, mean_tokens, strata


def drawn(traffic: Traffic, rows: Requests | None, count: int, limit: int, rng: Random) -> Requests:
    """``count`` of ``rows``, or of the distributions of ``traffic`` where there are none; of each slice of the lengths as many, so that few
    requests have the mean and the tail of many. Nothing is longer than ``limit``."""
    if rows is not None:
        order = np.lexsort((rows.output, rows.prompt))
        picked = order[[int(quantile * len(rows)) for quantile in strata(rng, count)]]
        return Requests(None, rows.prompt[picked], rows.output[picked], rows.cached[picked], rows.shared)
    prompt, output = (_of(lengths, count, limit, rng) for lengths in (traffic.prompt, traffic.output))
    cached = np.maximum(np.array(traffic.cached_share * prompt, np.int64), np.minimum(traffic.shared_prefix_tokens, prompt))
    return Requests(None, prompt, output, cached, traffic.shared_prefix_tokens)


def _of(lengths: Lengths, count: int, limit: int, rng: Random) -> Ints:
    return np.array([length_at(lengths, quantile, limit) for quantile in strata(rng, count)], np.int64)


def means(traffic: Traffic, rows: Requests | None, limit: int) -> tuple[float, float]:
    """Of prompts and outputs, before anything is drawn."""
    if rows is not None:
        return float(rows.prompt.mean()), float(rows.output.mean())
    return mean_tokens(traffic.prompt, limit), mean_tokens(traffic.output, limit)


def stretched(requests: Requests, prompt: float, output: float) -> Requests:
    """With lengths so many times as long; what is cached and shared is a part of the prompt and goes with it."""

    def times(tokens: Ints, factor: float) -> Ints:
        return np.array(np.rint(tokens * factor), np.int64)

    longer = np.maximum(times(requests.prompt, prompt), 1)
    cached = np.minimum(times(requests.cached, prompt), longer)
    return Requests(None, longer, np.maximum(times(requests.output, output), 1), cached, round(requests.shared * prompt))
