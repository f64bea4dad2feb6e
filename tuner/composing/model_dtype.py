"""`model.dtype=device`: the width that the device takes."""

from __future__ import annotations

from dataclasses import replace

from store.scenario import Scenario

DEVICE = "device"


def with_dtype(scenario: Scenario) -> Scenario:
    """``scenario`` with the width its GPU takes: float32 on a CPU, elsewhere what SGLang makes of a float32 model.

    Source: sglang/srt/configs/model_config.py, _get_and_verify_dtype.
    """
    dtype = "float32" if scenario.gpu.kind == "cpu" else "float16"
    return replace(scenario, model=replace(scenario.model, dtype=dtype))
