"""What users of the simulated server would see."""

from __future__ import annotations

import numpy as np

from backends.cell import Phase
from tuner.traffic.requests import Floats, Requests
from tuner.traffic.simulated import Simulated
from tuner.traffic.steps import Steps


def decode_share(steps: tuple[Steps, ...], run: Simulated) -> float | None:
    """Prefills between the steps, for which requests that decode wait, are in the time."""
    decoding_s = sum(float((each.count * each.attention_s).sum()) for each in steps if each.phase is Phase.DECODE)
    return decoding_s / (run.end_s - run.idle_s) if decoding_s else None


def tpot_ms(requests: Requests, run: Simulated) -> tuple[float, float] | None:
    several = run.steps > 0
    if not several.any():
        return None
    return _two(1e3 * (run.left_s - run.first_s)[several] / (requests.output[several] - 1))


def ttft_ms(run: Simulated) -> tuple[float, float]:
    """Waiting to be let in included; of callers who each wait for their answer, from the answer before on."""
    return _two(1e3 * (run.first_s - run.asked_s))


def _two(values: Floats) -> tuple[float, float]:
    median, p99 = np.percentile(values, (50, 99))
    return float(median), float(p99)
