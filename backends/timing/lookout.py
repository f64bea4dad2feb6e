"""Watches the device while arms are timed: a look between visits, and five readings a second from a thread of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from backends.measured import Conditions
from backends.timing.disturbance import STARVED, Disturbed, Gravity, Reading, cautions, disturbance
from backends.timing.sentry import BoardReader, Sentry

if TYPE_CHECKING:
    import torch


class Listening(Protocol):
    """`backends.timing.sentry.Sentry`, or what stands in for him."""

    def heard(self) -> Sequence[Reading]: ...

    def stop(self) -> None: ...


class Lookout:
    """Made when the process stands on the device, with nothing of ours on it but the pools. ``read`` reads the device now and at
    every look, never during a visit, and gives None where there is nothing to read; ``whole`` is a reading that tells more, for the
    first one. A ``sentry`` reads meanwhile."""

    def __init__(
        self, read: Callable[[], Reading | None], sentry: Listening | None = None, whole: Callable[[], Reading | None] | None = None
    ) -> None:
        self._read = read
        self._sentry = sentry
        self._whole = whole or read
        self._first = self._whole()
        self._seen: list[Reading] = []
        self._watched: tuple[Reading, ...] = ()
        self._judged = self._told = 0
        self.visiting = False

    def look(self) -> str | None:
        """Why what was timed since the look before is void; None where it is not. Raises `Disturbed` for what no repeat mends."""
        now = self._read()
        if self._first is None or now is None:
            return None
        heard = tuple(self._sentry.heard()) if self._sentry else ()
        self._seen += [*heard, now]
        new, self._judged = self._seen[self._judged :], len(self._seen)
        watched = (*self._watched, *heard)
        self._watched = watched[1 - STARVED :]
        found = disturbance(self._first, new, watched)
        if found is not None and found.gravity is Gravity.INVALID:
            raise Disturbed(f"measurement invalid: {found.sentence}")
        return found.sentence if found else None

    def resume(self) -> None:
        """After another process of ours had the device: what it holds there is nobody else's, and what came meanwhile is its to tell."""
        now = self._whole()
        if self._sentry is not None:
            self._sentry.heard()
        self._watched = ()
        if self._first is not None and now is not None:
            self._first = replace(self._first, processes=now.processes, unreserved_bytes=now.unreserved_bytes)

    @contextmanager
    def during_visit(self) -> Iterator[None]:
        self.visiting = True
        try:
            yield
        finally:
            self.visiting = False

    def conditions(self) -> Conditions | None:
        """Of the visits since this was last asked, by the sentry where he read any; None where nothing was read."""
        new, self._told = self._seen[self._told :], len(self._seen)
        return conditions([reading for reading in new if reading.visiting] or new) if new else None

    def labels(self) -> tuple[str, ...]:
        """Of the looks: what held the clocks before the first is no arm's doing."""
        return () if self._first is None else cautions(self._first, self._seen)

    def close(self) -> None:
        if self._sentry is not None:
            self._sentry.stop()


def conditions(readings: Sequence[Reading]) -> Conditions:
    def span(name: str) -> tuple[float, float] | None:
        values = [float(value) for reading in readings if (value := getattr(reading, name)) is not None]
        return (min(values), max(values)) if values else None

    masks = [reading.reasons for reading in readings if reading.reasons is not None]
    reasons = 0
    for mask in masks:
        reasons |= mask
    return Conditions(
        readings=len(readings),
        sm_clock_mhz=span("sm_clock_mhz"),
        memory_clock_mhz=span("memory_clock_mhz"),
        temperature_c=span("temperature_c"),
        power_w=span("power_w"),
        power_limit_w=span("power_limit_w"),
        reasons=reasons if masks else None,
    )


def lookout_over(device: torch.device) -> Lookout:
    """Over a GPU that torch has opened; over a CPU there is nothing to see."""
    if device.type == "cpu":
        return Lookout(lambda: None)
    import torch

    from backends.worker.board import first_gpu, is_slice

    board = BoardReader(first_gpu(), shared=is_slice())
    sentry = Sentry(board.reading)

    def with_memory(reading: Reading) -> Reading:
        free, total = torch.cuda.mem_get_info(device)
        return replace(reading, unreserved_bytes=total - free - torch.cuda.memory_reserved(device))

    lookout = Lookout(lambda: with_memory(board.glance()), sentry, lambda: with_memory(board.reading()))
    sentry.start(lambda: lookout.visiting)
    return lookout
