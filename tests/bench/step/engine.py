"""One process of SGLang's one-batch benchmark: every size, one after the other, of one backend or pair."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from store.scenario import Engine
from tests.bench.step.cells import BATCHES, INPUTS, OUTPUT
from tests.bench.step.rows import Step

MODEL = Path(__file__).with_name("model")  # Qwen3-8B's configuration and a tokenizer of three words
MODULE = "sglang.benchmark.one_batch"
LIMIT_S, SAID = 420.0, 400
MEMORY_FRACTION = 0.65  # the largest size holds 64 x 4224 tokens; without it graphs and logits of whole prefills do not fit beside


class EngineFailed(RuntimeError):
    """The benchmark ended without results; the text has its last words."""


def flags_of(arm: str) -> tuple[str, ...]:
    prefill, _, decode = arm.partition("/")
    if not decode:
        return "--attention-backend", arm
    return "--prefill-attention-backend", prefill, "--decode-attention-backend", decode


def command_of(arm: str, engine: Engine, results: Path) -> tuple[str, ...]:
    sizes = tuple(map(str, BATCHES))
    return (
        *(engine.command or (sys.executable,)),
        *("-m", MODULE, "--model-path", str(MODEL), "--load-format", "dummy", "--run-name", arm, "--result-filename", str(results)),
        *("--batch-size", *sizes, "--input-len", *map(str, INPUTS), "--output-len", str(OUTPUT)),
        *("--cuda-graph-bs-decode", *sizes, "--cuda-graph-backend-prefill", "disabled", "--mem-fraction-static", str(MEMORY_FRACTION)),
        *flags_of(arm),
    )


def run_engine(arm: str, engine: Engine) -> tuple[Step, ...]:
    """Raises `EngineFailed`."""
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "results.jsonl"
        said = _run(command_of(arm, engine, results), {**os.environ, **variables(engine)})
        if not results.exists():
            raise EngineFailed(said[-SAID:].strip())
        found = steps_of(map(json.loads, results.read_text().splitlines()))
    if not found:
        raise EngineFailed(f"no size was measured: {said[-SAID:].strip()}")
    return found


def variables(engine: Engine) -> dict[str, str]:
    """For a Python that has the engine on ``engine.path``; nothing is asked of a network."""
    path = os.pathsep.join((*engine.path, *filter(None, (os.environ.get("PYTHONPATH"),))))
    return {"HF_HUB_OFFLINE": "1", **({"PYTHONPATH": path} if path else {})}


def steps_of(results: Iterable[Mapping[str, float]]) -> tuple[Step, ...]:
    """Of the sizes with decode steps."""
    return tuple(
        Step(
            f"{found['batch_size']}x{found['input_len']}",
            round(1e3 * found["median_decode_latency"], 4),
            round(1e3 * found["prefill_latency"], 4),
        )
        for found in results
        if "median_decode_latency" in found
    )


def _run(words: Sequence[str], environment: Mapping[str, str]) -> str:
    try:
        done = subprocess.run(
            words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT_S, check=False
        )
    except subprocess.TimeoutExpired:
        raise EngineFailed(f"no end within {LIMIT_S:.0f} s") from None
    return done.stdout
