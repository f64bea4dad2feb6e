"""A million requests, from arrivals to cells, in processor seconds of one core: `make bench`.

The budget is 30 s on one core. The ratio to a bare loop over as many numbers travels between machines, seconds do not.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from tuner.engines.lookup import rules_of
from tuner.settings import compose
from tuner.traffic.replay import replayed
from tuner.traffic.requests import Requests
from tuner.traffic.trace import Trace

REQUESTS, BUDGET_S = 1_000_000, 30.0
RATES = {"5 a second": 5.0, "11 a second": 11.0, "64 callers at once": None}


def seconds(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


def made_up(rate: float | None) -> Requests:
    """Chat: 1000 and 250 tokens in the middle."""
    rng = np.random.default_rng(0)
    prompt, output = (rng.lognormal(np.log(median), sigma, REQUESTS).astype(np.int64) + 1 for median, sigma in ((1000, 1.1), (250, 0.7)))
    arrival_s = None if rate is None else np.cumsum(rng.exponential(1 / rate, REQUESTS))
    return Requests(arrival_s, prompt, output, prompt * 3 // 10)


def loop() -> int:
    total = 0
    for number in range(REQUESTS):
        total += number
    return total


def main() -> None:
    scenario = compose(["model=qwen3_8b", "gpu=h200"]).scenario
    engine = rules_of(scenario)
    rules, _ = engine.rules_for(scenario.engine.version)
    server, bare = engine.server_for(scenario, rules, 1), seconds(loop)
    for name, rate in RATES.items():
        for mixed in (False, True):
            requests = made_up(rate)
            trace = Trace("made up", REQUESTS, 0, (), requests, None if rate else 64)
            asked = replace(trace, limits=replace(trace.limits, mixed_chunks=mixed))
            took = seconds(partial(replayed, asked, scenario, server, 1))
            said = f"{name}{', mixed chunks' if mixed else ''}"
            print(f"{said:<34}{took:8.1f} s{took / BUDGET_S:8.2f} of the budget{took / bare:8.0f} x a bare loop")


if __name__ == "__main__":
    main()
