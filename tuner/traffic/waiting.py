"""Who had to wait, for what, and for how long: a replay's sentences on traffic that the server cannot take at once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tuner.spans import words
from tuner.traffic.simulated import Rules, Simulated

FEW = 20  # requests of which nothing is said about growth
LONG_S, TENTH = 60.0, 10


def waiting(run: Simulated, rules: Rules, arrivals: bool) -> Iterator[str]:
    """``arrivals``: requests came when they came, so a queue may grow."""
    waited = run.waited_s
    if len(run.held_back):
        at_once = int(np.median(run.held_back))
        share = float((waited > 0).mean())
        yield (
            f"traffic exceeds the KV capacity: with {at_once} requests at once the pool of {rules.pool} tokens is full and others queue "
            f"({share:.0%} of the requests wait, {words(float(np.percentile(waited, 95)))} at the 95th percentile)"
        )
    if arrivals and _grows(run):
        yield (
            f"requests come faster than the server is predicted to answer them: the last tenth waited "
            f"{words(float(np.median(waited[-len(waited) // TENTH :])))}, and the queue still grew"
        )


def _grows(run: Simulated) -> bool:
    waited = run.waited_s
    if len(waited) < FEW:
        return False
    middle, last = np.median(waited[len(waited) // 2 :][: len(waited) // TENTH]), np.median(waited[-len(waited) // TENTH :])
    return bool(last > LONG_S and last > 1.5 * middle)
