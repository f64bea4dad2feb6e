"""One arm on one cell, ready to be timed by whoever likes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backends.phases import Phases
from backends.seat import Seat
from backends.timing.recording import Recording

if TYPE_CHECKING:
    from backends.arm import Arm
    from backends.driver import CellData, Driver
    from backends.stand import Stand

Call = Callable[[], object]


@dataclass(frozen=True)
class Prepared:
    """``served``: a decode call is a replay of its recording, one launch long, as the engine replays it; a prefill call is launched.
    ``prepare_s`` with the recording, ``open_s`` without."""

    seat: Seat
    recording: Recording | None
    open_s: float
    prepare_s: float

    @property
    def launch(self) -> Call:
        return lambda: self.seat.call.launch(self.seat.slots - 1)

    @contextmanager
    def as_served(self) -> Iterator[Call]:
        with self.seat.call.active():
            self.seat.call.plan()
            yield self.recording.replay if self.recording else self.launch

    @contextmanager
    def to_record(self) -> Iterator[Call]:
        """The launch alone, for a tool that records it itself: in the engine's capture mode, over the metadata of the true lengths."""
        with self.seat.call.active(), self.seat.call.capturing():
            self.seat.call.plan()
            yield self.launch

    def close(self) -> None:
        if self.recording is not None:
            self.recording.close()
        self.seat.close()


def prepare(arm: Arm, driver: Driver, data: CellData, stand: Stand, phases: Phases, record: bool = True) -> Prepared:
    begun = time.perf_counter()
    seat = Seat(arm, driver, data, stand.slots(data.cell, arm), phases, stand.bench)
    stand.bench.synchronize()
    opened = time.perf_counter()
    recording = Recording(seat.call, [seat.slots - 1]) if record and seat.call.graph else None
    return Prepared(seat, recording, opened - begun, time.perf_counter() - begun)
