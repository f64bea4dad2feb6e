"""The clock of a replay."""

from __future__ import annotations

import pytest

from tests.tuner.composed import composed
from tuner.traffic.pace import READING, Pace, pace_of


def pace(model: str) -> tuple[Pace, float]:
    """With the seconds in which an L4 would read all parameters."""
    scenario = composed(f"model={model}", "gpu=l4").scenario
    assert scenario.gpu.bandwidth_bytes_per_s is not None
    return pace_of(scenario, "bfloat16"), 2 * scenario.model.params_total / READING / scenario.gpu.bandwidth_bytes_per_s


@pytest.mark.parametrize(
    ("model", "read"), [("qwen3_8b", 1 - 4096 * 151936 / 8.19e9), ("gemma3_4b", 1.0)], ids=["a head of its own", "one matrix"]
)
def test_a_step_reads_all_weights_but_an_embedding_that_is_no_head(model: str, read: float) -> None:
    found, everything_s = pace(model)
    assert found.rest_s[1] == pytest.approx(read * everything_s, rel=0.03)  # small kernels are the rest


def test_a_prefill_of_many_tokens_takes_what_their_products_take() -> None:
    found, _ = pace("qwen3_8b")
    assert found.rest_s[8192] == pytest.approx(2 * found.rest_s[4096], rel=0.05)
