"""What NVML says of a board, and a thread that asks it five times a second while the process works."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace

from backends import nvml
from backends.timing.disturbance import Reading

PERIOD_S = 0.2


class BoardReader:
    """``gpu`` None: NVML does not know the device, and every reading says so. ``shared``: others may work on it beside us, so that
    their processes and errors say nothing."""

    def __init__(self, gpu: nvml.Device | None, shared: bool = False) -> None:
        self._gpu = gpu
        self._shared = shared
        self._xids = gpu.watch_xids() if gpu and not shared else None

    def glance(self) -> Reading:
        """Clocks and what holds them: a fraction of a millisecond."""
        gpu = self._gpu
        if gpu is None:
            return Reading()
        return Reading(
            reasons=gpu.clock_event_reasons(),
            temperature_c=gpu.temperature_c(),
            power_w=gpu.power_w(),
            sm_clock_mhz=gpu.sm_clock_mhz(),
        )

    def reading(self) -> Reading:
        """All there is."""
        gpu = self._gpu
        if gpu is None:
            return Reading()
        return replace(
            self.glance(),
            memory_clock_mhz=gpu.memory_clock_mhz(),
            power_limit_w=gpu.power_limit_w(),
            processes=None if self._shared else gpu.compute_processes(),
            xids=self._xids.new() if self._xids else None,
            uncorrected_errors=gpu.ecc_errors(nvml.UNCORRECTED),
            corrected_errors=gpu.ecc_errors(nvml.CORRECTED),
        )


class Sentry:
    """Asks ``read`` again and again from `start` on, until `stop` or the end of the process; ``visiting`` tells whether a
    visit is under way. NVML keeps the interpreter's lock free and the device's queue is ahead of the host, so visits are not
    disturbed."""

    def __init__(self, read: Callable[[], Reading], period_s: float = PERIOD_S) -> None:
        self._read = read
        self._period_s = period_s
        self._heard: list[Reading] = []
        self._lock = threading.Lock()
        self._over = threading.Event()

    def start(self, visiting: Callable[[], bool]) -> None:
        threading.Thread(target=self._watch, args=(visiting,), daemon=True).start()

    def stop(self) -> None:
        self._over.set()

    def heard(self) -> tuple[Reading, ...]:
        """Since this was last asked."""
        with self._lock:
            heard, self._heard = self._heard, []
        return tuple(heard)

    def _watch(self, visiting: Callable[[], bool]) -> None:
        while not self._over.wait(self._period_s):
            before = visiting()
            now = self._read()
            with self._lock:
                self._heard.append(replace(now, visiting=before and visiting()))
