"""One fresh process in which several tools time the same calls, none of them twice in the same place of the order."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from backends.arm import Arm
from backends.bench import bench_for
from backends.blame import blaming
from backends.cell import Cell, Phase
from backends.company import await_others
from backends.phases import Phases, Say
from backends.spec import StageSpec, TimingSpec
from backends.stand import Stand, open_stand
from backends.wire import from_plain

from .prepared import Prepared, prepare
from .tools import RECORDING, TOOLS

if TYPE_CHECKING:
    from backends.driver import Driver

Message = Mapping[str, Any]
SENTENCE = 300  # characters of an error


def run(message: Message, say: Say) -> Iterator[dict[str, Any]]:
    """A reading for each tool, cell and arm; ``message`` holds those of a round, ``tools`` and how often each ``repeats``."""
    arms, cells, stage, timing = asked(message)
    rng = random.Random(message["seed"])
    bench = bench_for(stage, message["seed"])
    phases = Phases(say, bench.now)
    await_others(bench, phases)
    with phases.of("import"):
        stand = open_stand(bench, stage, arms, cells, message["seed"])
    with ExitStack() as stack, bench.working():
        drivers = opened(arms, stand, rng, phases, stack)
        bench.keep()
        for cell in rng.sample(cells, len(cells)):
            with ExitStack() as places:
                racing = without(message["skip"], drivers, cell)
                ready = seated(cell, racing, stand, phases, rng, places, timing if stage.simulation else None)
                yield from read(cell, ready, stand, message, rng, say)
            bench.release()


def asked(message: Message) -> tuple[tuple[Arm, ...], tuple[Cell, ...], StageSpec, TimingSpec]:
    arms, cells = from_plain(tuple[Arm, ...], message["arms"]), from_plain(tuple[Cell, ...], message["cells"])
    return arms, cells, from_plain(StageSpec, message["stage"]), from_plain(TimingSpec, message["timing"])


def opened(arms: tuple[Arm, ...], stand: Stand, rng: random.Random, phases: Phases, stack: ExitStack) -> dict[Arm, Driver]:
    drivers = {}
    for arm in rng.sample(arms, len(arms)):
        with phases.of("import", arm.name), blaming(arm.name):
            drivers[arm] = stand.open_driver(arm)
        stack.callback(drivers[arm].close)
    return drivers


def without(skip: Sequence[Sequence[str]], drivers: Mapping[Arm, Driver], cell: Cell) -> dict[Arm, Driver]:
    return {arm: driver for arm, driver in drivers.items() if [arm.name, cell.name] not in skip}


def seated(
    cell: Cell,
    drivers: Mapping[Arm, Driver],
    stand: Stand,
    phases: Phases,
    rng: random.Random,
    places: ExitStack,
    simulated: TimingSpec | None = None,
) -> dict[str, Prepared]:
    """``simulated``: how a visit is timed where nothing can be recorded."""
    ready: dict[str, Prepared] = {}
    for arm in rng.sample(list(drivers), len(drivers)):
        with blaming(arm.name, cell.name):
            data = next((each.seat.data for each in ready.values()), None) or stand.lay_out(cell, arm)  # all arms share a pool
            ready[arm.name] = prepare(arm, drivers[arm], data, stand, phases, record=simulated is None)
            places.callback(ready[arm.name].close)
            if simulated is not None:
                ready[arm.name].seat.capture(simulated)
    return ready


def read(
    cell: Cell, ready: Mapping[str, Prepared], stand: Stand, message: Message, rng: random.Random, say: Say
) -> Iterator[dict[str, Any]]:
    """Whoever imports beside this process stands still where a tool times what the host launches."""
    phase = "timing" if cell.phase is Phase.PREFILL else "contest"
    for tool in rng.sample(list(message["tools"]), len(message["tools"])):
        for arm in rng.sample(list(ready), len(ready)):
            say(phase, arm=arm, cell=cell.name, detail=tool)
            yield {"tool": tool, "cell": cell.name, "arm": arm, **timed(tool, ready[arm], message["repeats"], stand)}
    say("contest", cell=cell.name)


def timed(tool: str, prepared: Prepared, repeats: int, stand: Stand) -> dict[str, Any]:
    """What a tool cannot do is no failure of the arm. Raises where the device is lost."""
    us: list[float] = []
    error = None
    begun = time.perf_counter()
    try:
        for _ in range(repeats):
            us.append(TOOLS[tool](prepared))
    except Exception as problem:
        error = f"{type(problem).__name__}: {problem}"[:SENTENCE]
    stand.bench.synchronize()
    prepare_s = prepared.open_s if tool in RECORDING else prepared.prepare_s
    return {"us": us, "timing_s": time.perf_counter() - begun, "prepare_s": prepare_s, "error": error}
