"""What the calls of each arm launch. It travels beside `backends` to a worker: nothing here imports the controller's code."""

from __future__ import annotations

import gc
import random
from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import Any

from backends.arm import Arm
from backends.bench import bench_for
from backends.blame import blaming
from backends.cell import Cell
from backends.phases import Phases, Say
from backends.seat import Seat
from backends.spec import StageSpec, TimingSpec
from backends.stand import open_stand
from backends.wire import from_plain


def _let_go() -> None:
    """What the round in this process left, set aside from collections while it timed."""
    gc.unfreeze()
    gc.collect()


def run(message: Mapping[str, Any], say: Say) -> Iterator[dict[str, Any]]:
    """{arm, cell, kernels: names and grids in launch order} of everything that a round was asked for; ``message`` is the round's."""
    arms, cells = from_plain(tuple[Arm, ...], message["arms"]), from_plain(tuple[Cell, ...], message["cells"])
    stage, timing = from_plain(StageSpec, message["stage"]), from_plain(TimingSpec, message["timing"])
    _let_go()
    bench = bench_for(stage, message["seed"])
    bench.open()
    bench.release()
    phases = Phases(say, bench.now)
    stand = open_stand(bench, stage, arms, cells, message["seed"])
    order = random.Random(message["seed"]).sample(arms, len(arms))
    with bench.working():
        for arm in order:
            with blaming(arm.name), closing(stand.open_driver(arm)) as driver:
                for cell in cells:
                    with blaming(arm.name, cell.name):
                        seat = Seat(arm, driver, stand.lay_out(cell, arm), stand.slots(cell, arm), phases, bench)
                        with closing(seat):
                            nodes = bench.launches(seat.call, seat.capture(timing))
                        kernels = [f"{node.name} @ {'x'.join(map(str, node.grid))}" for node in nodes]
                        yield {"arm": arm.name, "cell": cell.name, "kernels": kernels}
                    bench.release()
