"""A call that the engine captures, beside itself launched eagerly: is it right only there, is it faster there, and on which grids?

A graph keeps what it was recorded on. Its answers and its grid are those of the cell only as far as its backend refreshes them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING

from backends.checks.tolerance import Incorrect
from backends.seat import Seat
from backends.timing.ways import grids, penalised

if TYPE_CHECKING:
    from backends.measured import Identity, Soundness
    from backends.probe import OpenArm

LOOKS = 3  # samples are enough to tell a tenth
WRONG = "right when launched eagerly, wrong in a graph that is replayed on other requests than it was recorded on"


@contextmanager
def right_eagerly() -> Iterator[None]:
    """Around the checks of a replay. A graph is recorded on padded rows alone (`backends.driver.PreparedCall.capturing`), so that
    whatever it kept of them shows on the cell's own requests."""
    try:
        yield
    except Incorrect as error:
        raise Incorrect(f"{WRONG}: {error}") from error


def eager_us(opened: OpenArm, seat: Seat) -> float | None:
    """Device time of a call that is about to be captured; None of one that never is."""
    if not seat.call.graph:
        return None
    quick = replace(opened.timing, replays=LOOKS)
    with opened.phases.of("timing", opened.arm.name, seat.data.cell.name, "eagerly"):
        return median(opened.stand.bench.eagerly(seat.call, seat.slots, quick).visit().us)


def beside_eager(found: Soundness | None, device_us: float, eager_us: float | None) -> Soundness | None:
    return found if found is None or eager_us is None else replace(found, eager=eager_us / device_us)


def both_grids(opened: OpenArm, seat: Seat, recorded: Identity, found: Soundness | None) -> tuple[str, ...]:
    """A label where the graph costs more than it saves. The eager grids are those of a call prepared anew: what is captured stays so."""
    if not penalised(found):
        return ()
    bench = opened.stand.bench
    with closing(Seat(opened.arm, opened.driver, seat.data, seat.slots, opened.phases, bench)) as again:
        eager = bench.identify(again.call, bench.eagerly(again.call, seat.slots, opened.timing))
    return (grids(recorded.nodes, eager.nodes),)
