"""The pin of the story of SGLang issue 17411, and the logs beside this file: Qwen3-235B on four H20s, decode pinned to FlashInfer 0.5.3.

The times a token are the issue's medians (39.44 ms before, 283.52 ms after FlashInfer 0.6.1), in lines as SGLang 0.5.8 prints them; the
pin's times are made up to go with them.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from backends.environment import Distribution
from backends.model import LayerKind
from store.pins.pin_files import write_pin
from store.runs.run import Run
from tests.tuner.building import ENGINE, H200, MODEL, decode, one_cell_each, prefill
from tests.tuner.unmeasured.pinned import IMPORTS, PACKAGES
from tuner.decide import decide
from tuner.pin import pin_of

STORY = Path(__file__).parent / "story"
LAYERS = LayerKind("full", 94, 16, 1, 128, 128)
TIMES = {"fa3": (1500.0, 294.0), "flashinfer": (1400.0, 110.0)}  # us a call in prefill and decode; the default is fa3
THEN = {
    **{"apache-tvm-ffi": "0.1.8.post2", "flashinfer-python": "0.5.3", "sglang": "0.5.8", "sglang-kernel": "0.3.20"},
    **{"torch": "2.9.1", "triton": "3.5.1"},
}


def run() -> Run:
    model = replace(MODEL, name="qwen3_235b_a22b", layers=(LAYERS,), params_total=235e9, params_active=22e9)
    gpu = replace(H200, name="NVIDIA H20", sm_count=78, bandwidth_bytes_per_s=4.0e12, peak_flops=148e12)
    engine = replace(ENGINE, version="0.5.8", tensor_parallel=4)
    cells = tuple(replace(each, layers=LAYERS.layers) for each in (decode(context=12500), prefill()))
    made = one_cell_each(TIMES, model=model, gpu=gpu, engine=engine, cells=cells)
    found = tuple(Distribution(name, version, f"{index:064d}") for index, (name, version) in enumerate(sorted(THEN.items())))
    return replace(
        made,
        environment=replace(made.environment, distributions=found, imports=tuple(each for each in IMPORTS if each[1] in THEN)),
        default=replace(made.default, kv_cache_dtype="bfloat16"),
        arms=tuple(replace(arm, packages=PACKAGES[arm.backend]) for arm in made.arms),
    )


def written(folder: Path) -> Path:
    """The pin's path."""
    made = run()
    decided = decide(made)
    made, path = replace(made, decision=decided), folder / "pin.yaml"
    write_pin(path, pin_of(made, decided, ("pin.evidence.jsonl.zst", "00")), "# a pin\n", made)
    return path
