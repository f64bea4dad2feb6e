"""NVIDIA's cuda-bench, which runs all its benchmarks at once and once a process: every cell and arm is a case of one benchmark."""

from __future__ import annotations

import json
import random
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from backends.bench import bench_for
from backends.company import await_others
from backends.phases import Phases, Say
from backends.stand import open_stand

from .prepared import Prepared
from .run import SENTENCE, asked, opened, seated, without

TOOL = "nvbench"
MEAN = "nv/cold/time/gpu/mean"
US_PER_S = 1e6
BETWEEN = " on "


def run(message: Mapping[str, Any], say: Say) -> Iterator[dict[str, Any]]:
    """As `contest.run.run`, for this one tool. Raises ImportError where it is not there."""
    from cuda import bench as nvbench

    arms, cells, stage, _ = asked(message)
    rng = random.Random(message["seed"])
    bench = bench_for(stage, message["seed"])
    phases = Phases(say, bench.now)
    await_others(bench, phases)
    with phases.of("import"):
        stand = open_stand(bench, stage, arms, cells, message["seed"])
    with ExitStack() as stack, bench.working():
        drivers = opened(arms, stand, rng, phases, stack)
        racing = {cell.name: without(message["skip"], drivers, cell) for cell in cells}
        by_name = {cell.name: cell for cell in cells}
        cases = Cases(lambda cell, places: seated(by_name[cell], racing[cell], stand, phases, rng, places), say)
        order = [case for cell in rng.sample(sorted(racing), len(racing)) for case in named(cell, [arm.name for arm in racing[cell]], rng)]
        stack.callback(cases.close)
        nvbench.register(cases.measure).add_string_axis("case", order)
        with tempfile.TemporaryDirectory() as folder:
            results = Path(folder) / "results.json"
            nvbench.run_all_benchmarks(["contest", "--devices", "0", "--json", str(results)])
            yield from cases.readings(means_us(json.loads(results.read_text())))


def named(cell: str, arms: list[str], rng: random.Random) -> list[str]:
    return [f"{arm}{BETWEEN}{cell}" for arm in rng.sample(arms, len(arms))]


class Cases:
    """One cell's arms are there at a time."""

    def __init__(self, seat: Callable[[str, ExitStack], dict[str, Prepared]], say: Say) -> None:
        self._seat = seat
        self._say = say
        self._cell = ""
        self._ready: dict[str, Prepared] = {}
        self._places = ExitStack()
        self._seconds: dict[str, tuple[float, float]] = {}
        self._errors: dict[str, str] = {}

    def measure(self, state: Any) -> None:
        import torch

        cuda: Any = torch.cuda  # its streams have no types
        case = state.get_string("case")
        arm, cell = case.split(BETWEEN)
        self._move_to(cell)
        self._say("contest", arm=arm, cell=cell, detail=TOOL)
        prepared, begun = self._ready[arm], time.perf_counter()
        try:
            with torch.no_grad(), prepared.as_served() as call:

                def launch(asked: Any) -> None:
                    with cuda.stream(cuda.ExternalStream(asked.get_stream().addressof())):
                        call()

                torch.cuda.synchronize()
                state.exec(launch, batched=False, sync=prepared.recording is None)
        except Exception as problem:
            self._errors[case] = f"{type(problem).__name__}: {problem}"[:SENTENCE]
            state.skip(self._errors[case])
        self._seconds[case] = (time.perf_counter() - begun, prepared.prepare_s)

    def _move_to(self, cell: str) -> None:
        if cell != self._cell:
            self.close()
            self._cell, self._ready = cell, self._seat(cell, self._places)

    def close(self) -> None:
        self._places.close()
        self._cell, self._ready = "", {}

    def readings(self, means: Mapping[str, float]) -> Iterator[dict[str, Any]]:
        for case, (timing_s, prepare_s) in self._seconds.items():
            arm, cell = case.split(BETWEEN)
            error = self._errors.get(case) or (None if case in means else "it reported no time")
            us = [means[case]] if error is None else []
            yield {"tool": TOOL, "cell": cell, "arm": arm, "us": us, "timing_s": timing_s, "prepare_s": prepare_s, "error": error}


def means_us(results: Mapping[str, Any]) -> dict[str, float]:
    """By case, of the file that --json wrote; numbers are strings there."""
    found = {}
    for benchmark in results["benchmarks"]:
        for state in benchmark["states"]:
            case = next(axis["value"] for axis in state["axis_values"] if axis["name"] == "case")
            for summary in state.get("summaries") or ():
                if summary["tag"] == MEAN:
                    found[case] = US_PER_S * float(next(datum["value"] for datum in summary["data"] if datum["name"] == "value"))
    return found
