"""Runs in the interpreter that has the engine, as drive.py does: every feature that a backend declares, on those that run on a CPU.

Prints one JSON object: {"version", "cases": {"backend-feature, cell": {"result"} or {"raised", "text"}}}.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from typing import Any

import torch

from backends.kv.inputs import lay_out
from tests.backends.sglang.declared import Declared, declared, entries
from tests.backends.sglang.features import FEATURES, SMALL
from tests.backends.sglang.standing import CONTEXT_LENGTH, EXTRAS, FEW_SPLITS, judged, opened, outcome

BACKENDS = ("triton", "torch_native")
DTYPE = "float16"  # Triton's interpreter multiplies no bfloat16


def runs_here(one: Declared) -> bool:
    """Not narrow queries and weights in Triton's interpreter: it cuts them off where a GPU rounds, twice the error that is allowed for."""
    return bool(one.phases) and not (one.backend == "triton" and one.feature.kv_dtype != "bfloat16")


def cases(one: Declared) -> Iterator[tuple[str, Callable[[], Any]]]:
    feature = one.feature
    model = feature.model(SMALL, DTYPE, CONTEXT_LENGTH)
    named = {"layers": model.layers, "architecture": model.architecture, "attention": model.attention, "logit_softcap": feature.soft_cap}
    server = {"deterministic": feature.deterministic, "drafting": feature.drafting, "scales": feature.scales}
    knobs = FEW_SPLITS if one.backend == "triton" else ()
    driver = opened(one.backend, DTYPE, one.page_size, knobs=knobs, kv_dtype=feature.stored(DTYPE), **server, **named)
    for cell in feature.cells(SMALL, DTYPE, one.phases, 0):
        data = lay_out(cell, driver.engine.pool, CONTEXT_LENGTH)
        yield f"{one}, {cell.name}", lambda data=data: judged(driver.prepare(data), data, feature.soft_cap, one.deviations)


def run(rules: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in BACKENDS:
        for feature in FEATURES:
            one = declared(entries()[name], feature, rules)
            for case, call in cases(one) if runs_here(one) else ():
                found[case] = outcome(call)
    return found


if __name__ == "__main__":
    from tests.backends.sglang.interpreted import hasten  # needs Triton, which there is where the engine is

    torch.set_num_threads(1)  # the tensors are tiny
    hasten()
    results = run(sys.argv[1])
    print(json.dumps({"version": EXTRAS["sglang"].version, "cases": results}), file=sys.__stdout__)
