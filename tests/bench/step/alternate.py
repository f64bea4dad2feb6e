"""Several attention backends of SGLang take turns in one process, on one model and one KV pool.

    python alternate.py RESULTS ARM,... RUNS STEPS WARM_STEPS CHUNK [FLAG of sglang.benchmark.one_batch ...]

SGLang's one-batch benchmark loads the model with the first arm; every other arm ("prefill/decode", or one backend for both) then gets
its attention backend and its decode graphs beside it, by the engine's own methods. A decode step or a prefill is the benchmark's own,
timed as it times them; only which backend takes it changes.

RESULTS gets a line a size as soon as it is done: {"cell": "decode-64x2048", "ms": {ARM: [a value a run]}}. In a run each arm takes STEPS
decode steps, then all once more in reverse order, so that the growing context falls on all alike; its value is the median. Sizes of at
most CHUNK tokens have prefills too, one a run and arm. {"arm": ARM, "failed": WHY} or {"cell": CELL, "failed": WHY}: what is missing.

Runs in the engine's Python: imports nothing but the standard library and SGLang.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from statistics import median
from typing import Any

from sglang.benchmark import one_batch

SWITCHED = ("attn_backend", "decode_cuda_graph_runner", "prefill_attention_backend_str", "decode_attention_backend_str")
SEED = 0


@dataclass(frozen=True)
class Agenda:
    """``warm_steps``: of each arm, before the first run of a size."""

    arms: tuple[str, ...]
    runs: int
    steps: int
    warm_steps: int
    chunk: int


class Engine:
    """A loaded model, and what of its runner is each arm's own."""

    def __init__(self, server: Any) -> None:
        ports = one_batch.PortArgs.init_new(server)
        for initialize in (one_batch.initialize_moe_config, one_batch.initialize_fp8_gemm_config, one_batch.initialize_fp4_gemm_config):
            initialize(server)
        self.bench, _ = one_batch.load_model(server, ports, 0, 0)
        self._runner = self.bench.torch_runner
        self._own: dict[str, dict[str, Any]] = {}
        self.at = ""  # the arm in place

    @property
    def arms(self) -> tuple[str, ...]:
        return tuple(self._own)

    def keep(self, arm: str) -> None:
        """What the model was loaded with is ``arm``."""
        self._own[arm] = {name: getattr(self._runner, name) for name in SWITCHED}

    def add(self, arm: str) -> None:
        prefill, decode = sides(arm)
        self._runner.server_args.override(
            "alternate", attention_backend=decode, prefill_attention_backend=prefill, decode_attention_backend=decode
        )
        self._runner.init_attention_backends()
        self._runner.init_decode_cuda_graph()
        self.keep(arm)

    def switch(self, arm: str) -> None:
        self.at = arm
        for name, value in self._own[arm].items():
            setattr(self._runner, name, value)

    def seconds(self, work: Callable[[], Any]) -> tuple[float, Any]:
        self.bench.synchronize()
        began = time.perf_counter()
        found = work()
        self.bench.synchronize()
        return time.perf_counter() - began, found

    def prefill(self, batch: int, tokens: int) -> tuple[float, Any]:
        """ms, and what decoding goes on from."""
        requests = one_batch.prepare_synthetic_inputs_for_latency_test(batch, tokens)
        self.bench.clear()
        taken, found = self.seconds(lambda: self.bench.extend(requests))
        return 1e3 * taken, found


def sides(arm: str) -> tuple[str, str]:
    prefill, _, decode = arm.partition("/")
    return prefill, decode or prefill


def there_and_back(arms: Sequence[str], rng: random.Random) -> list[str]:
    order = rng.sample(list(arms), len(arms))
    return [*order, *reversed(order)]


class Decoding:
    """A batch that decodes, with one arm or another. ``first`` took its prompts."""

    def __init__(self, engine: Engine, first: str, batch: int, tokens: int) -> None:
        self._engine = engine
        engine.switch(first)
        _, (self._ids, _, self._requests) = engine.prefill(batch, tokens)

    def steps_ms(self, arm: str, steps: int) -> list[float]:
        self._engine.switch(arm)
        return [self._step_ms() for _ in range(steps)]

    def _step_ms(self) -> float:
        taken, (self._ids, _) = self._engine.seconds(lambda: self._engine.bench.decode(self._ids, self._requests))
        return 1e3 * taken


def decode_runs(engine: Engine, agenda: Agenda, arms: Sequence[str], batch: int, tokens: int) -> dict[str, list[float]]:
    """ms of a step by arm, one value a run."""
    decoding, rng = Decoding(engine, arms[0], batch, tokens), random.Random(SEED)
    for arm in arms:
        decoding.steps_ms(arm, agenda.warm_steps)
    found: dict[str, list[float]] = {arm: [] for arm in arms}
    for _ in range(agenda.runs):
        seen: dict[str, list[float]] = {arm: [] for arm in arms}
        for arm in there_and_back(arms, rng):
            seen[arm] += decoding.steps_ms(arm, agenda.steps)
        for arm, values in seen.items():
            found[arm].append(median(values))
    return found


def prefill_runs(engine: Engine, agenda: Agenda, arms: Sequence[str], batch: int, tokens: int) -> dict[str, list[float]]:
    """As `decode_runs`; the first run, which may still build kernels, is not among them."""
    found: dict[str, list[float]] = {arm: [] for arm in arms}
    rng = random.Random(SEED)
    for number in range(agenda.runs + 1):
        for arm in rng.sample(list(arms), len(arms)):
            engine.switch(arm)
            taken, _ = engine.prefill(batch, tokens)
            if number:
                found[arm].append(taken)
    return found


def measured(engine: Engine, agenda: Agenda, batch: int, tokens: int, output: int) -> Iterator[dict[str, Any]]:
    ways = {"prefill": prefill_runs} if batch * tokens <= agenda.chunk else {}
    for phase, way in {**ways, "decode": decode_runs}.items():
        cell = f"{phase}-{batch}x{tokens}"
        if engine.bench.max_batch_size(tokens, output) < batch:
            yield {"cell": cell, "failed": "the KV pool is too small"}
            continue
        arms = list(engine.arms)
        while arms:
            try:
                yield {"cell": cell, "ms": way(engine, agenda, arms, batch, tokens)}
                break
            except Exception as error:  # once more without the arm that was at it
                yield {"cell": cell, "arm": engine.at, "failed": told(error)}
                arms.remove(engine.at)


def opened(engine: Engine, arms: Sequence[str]) -> Iterator[dict[str, Any]]:
    """What could not be opened."""
    engine.keep(arms[0])
    for arm in arms[1:]:
        try:
            engine.add(arm)
        except Exception as error:
            yield {"arm": arm, "failed": told(error)}


def told(error: Exception) -> str:
    traceback.print_exc()
    return f"{type(error).__name__}: {error}"[:400]


def parsed(flags: Sequence[str]) -> tuple[Any, Any]:
    """The server's and the benchmark's arguments, as the benchmark's own main has them."""
    parser = argparse.ArgumentParser()
    one_batch.ServerArgs.add_cli_args(parser)
    one_batch.BenchArgs.add_cli_args(parser)
    words = parser.parse_args(flags)
    server, bench = one_batch.ServerArgs.from_cli_args(words), one_batch.BenchArgs.from_cli_args(words)
    server.cuda_graph_config[one_batch.Phase.DECODE].max_bs = max(bench.batch_size)
    one_batch._set_envs_and_config(server)
    return server, bench


def main(arguments: Sequence[str]) -> None:
    results, arms, *numbers = arguments[:6]
    agenda = Agenda(tuple(arms.split(",")), *map(int, numbers))
    server, asked = parsed(arguments[6:])
    engine = Engine(server)
    with open(results, "a") as lines:

        def write(line: dict[str, Any]) -> None:
            print(line, flush=True)
            lines.write(json.dumps(line) + "\n")
            lines.flush()

        for line in opened(engine, agenda.arms):
            write(line)
        for batch, tokens, output in product(asked.batch_size, asked.input_len, asked.output_len):
            for line in measured(engine, agenda, batch, tokens, output):
                write(line)


if __name__ == "__main__":
    main(sys.argv[1:])
