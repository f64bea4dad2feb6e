"""SGLang's one-batch benchmark over every size: of one backend or pair in its own process, or of several in turns in one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from store.scenario import Engine
from tests.bench.step.cells import BATCHES, CHUNK, INPUTS, OUTPUT, RUNS, STEPS, WARM_STEPS
from tests.bench.step.rows import Step, Turns

MODEL = Path(__file__).with_name("model")  # Qwen3-8B's configuration and a tokenizer of three words
ALTERNATE = Path(__file__).with_name("alternate.py")
MODULE = "sglang.benchmark.one_batch"
LIMIT_S, SAID, MUCH = 420.0, 400, 8000
POOL_TOKENS = 2 * OUTPUT + max(BATCHES) * (max(INPUTS) + OUTPUT)  # what the largest size holds: the rest is for its prefill at once
MEMORY_FRACTION = 0.65


class EngineFailed(RuntimeError):
    """The benchmark ended without results; the text has its last words."""


def flags_of(arm: str) -> tuple[str, ...]:
    prefill, _, decode = arm.partition("/")
    if not decode:
        return "--attention-backend", arm
    return "--prefill-attention-backend", prefill, "--decode-attention-backend", decode


def command_of(arm: str, engine: Engine, results: Path) -> tuple[str, ...]:
    return (*_python(engine), "-m", MODULE, "--run-name", arm, "--result-filename", str(results), *_flags(arm))


def turns_command(arms: Sequence[str], engine: Engine, results: Path) -> tuple[str, ...]:
    asked = (str(results), ",".join(arms), *map(str, (RUNS, STEPS, WARM_STEPS, CHUNK)))
    return (*_python(engine), str(ALTERNATE), *asked, *_flags(arms[0]))


def run_engine(arm: str, engine: Engine, limit_s: float = LIMIT_S) -> tuple[Step, ...]:
    """Raises `EngineFailed`."""
    found = steps_of(_results(lambda results: command_of(arm, engine, results), engine, limit_s))
    if not found:
        raise EngineFailed("no size was measured")
    return found


def run_turns(arms: Sequence[str], engine: Engine, limit_s: float = LIMIT_S) -> tuple[tuple[Turns, ...], tuple[str, ...]]:
    """What there was until the limit, and what is missing of it. Raises `EngineFailed` where no size was measured."""
    lines = _results(lambda results: turns_command(arms, engine, results), engine, limit_s)
    timed = ((line["cell"], arm, ms) for line in lines for arm, ms in line.get("ms", {}).items())
    found = tuple(Turns(cell, arm, tuple(round(each, 4) for each in ms)) for cell, arm, ms in timed)
    lacks = tuple(
        f"{' '.join(line[key] for key in ('cell', 'arm') if key in line)}: {line['failed']}" for line in lines if "failed" in line
    )
    if not found:
        raise EngineFailed(f"no size was measured: {'; '.join(lacks)}")
    return found, lacks


def variables(engine: Engine) -> dict[str, str]:
    """For a Python that has the engine on ``engine.path``: nothing is asked of a network, and nothing imported from beside a script."""
    path = os.pathsep.join((*engine.path, *filter(None, (os.environ.get("PYTHONPATH"),))))
    return {"HF_HUB_OFFLINE": "1", "PYTHONSAFEPATH": "1", **({"PYTHONPATH": path} if path else {})}


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


def _python(engine: Engine) -> tuple[str, ...]:
    return engine.command or (sys.executable,)


def _flags(arm: str) -> tuple[str, ...]:
    sizes = tuple(map(str, BATCHES))
    return (
        *("--model-path", str(MODEL), "--load-format", "dummy", "--max-total-tokens", str(POOL_TOKENS)),
        *("--batch-size", *sizes, "--input-len", *map(str, INPUTS), "--output-len", str(OUTPUT)),
        *("--cuda-graph-bs-decode", *sizes, "--cuda-graph-backend-prefill", "disabled", "--mem-fraction-static", str(MEMORY_FRACTION)),
        *flags_of(arm),
    )


def _results(command: Callable[[Path], tuple[str, ...]], engine: Engine, limit_s: float) -> list[dict[str, Any]]:
    """The lines that a process wrote, the last one left out where it was killed in it."""
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "results.jsonl"
        said = _run(command(results), {**os.environ, **variables(engine)}, limit_s)
        text = results.read_text() if results.exists() else ""
    if not text:
        raise EngineFailed(said[-SAID:].strip() or "it said nothing")
    return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]


def _run(words: Sequence[str], environment: Mapping[str, str], limit_s: float) -> str:
    try:
        done = subprocess.run(
            words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=limit_s, check=False
        )
    except subprocess.TimeoutExpired as late:
        print(_text(late.stdout)[-MUCH:], file=sys.stderr)
        return f"no end within {limit_s:.0f} s"
    if done.returncode or "Traceback" in done.stdout:
        print(done.stdout[-MUCH:], file=sys.stderr)
    return done.stdout


def _text(said: bytes | str | None) -> str:
    """What a process that was ended had said, which is undecoded."""
    return said.decode(errors="replace") if isinstance(said, bytes) else said or ""
