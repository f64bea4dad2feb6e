"""What the simulated GPU's management library and driver tell while it is measured on."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from backends.simulated.modelled import moved
from backends.simulated.world import Misfortune
from backends.timing.disturbance import IDLE, OTHERS_BYTES, POWER_CAP, Reading

if TYPE_CHECKING:
    from backends.simulated.bench import SimulatedBench

CALM_C, HOT_C = 61, 91
REASONS = {Misfortune.THERMAL: 0x40, Misfortune.POWER_BRAKE: 0x80, Misfortune.POWER_CAP: POWER_CAP, Misfortune.STARVED: IDLE}
OURS, OURS_BYTES = 4242, 1 << 30  # our process there, and its context
STRANGER, STRANGERS_BYTES = 4711, 2 * OTHERS_BYTES
XID = 31  # a page fault in the GPU's memory
MEMORY_CLOCK_MHZ = 3201
LOWERED = 0.9  # of the power limit
PERIOD_S, MOST = 0.2, 50


def reading(bench: SimulatedBench, at_s: float) -> Reading:
    """As `backends.timing.lookout` reads a real GPU, ``at_s`` into the process."""

    def here(kind: Misfortune) -> bool:
        return bench.misfortunes.here(kind, at_s=at_s) is not None

    stranger, limit_w = here(Misfortune.FOREIGN_PROCESS), bench.world.board.power_limit_w or 0.0
    unreserved = OURS_BYTES + (STRANGERS_BYTES if stranger else 0)
    if not bench.world.telling:
        return Reading(unreserved_bytes=unreserved)
    clock = sm_clock_mhz(bench, at_s)
    return Reading(
        reasons=sum(bit for kind, bit in REASONS.items() if here(kind)),
        unreserved_bytes=unreserved,
        temperature_c=HOT_C if here(Misfortune.THERMAL) else CALM_C,
        power_w=limit_w,
        sm_clock_mhz=None if clock is None else round(clock),
        memory_clock_mhz=MEMORY_CLOCK_MHZ,
        power_limit_w=limit_w * (LOWERED if here(Misfortune.POWER_LIMIT) else 1.0),
        processes=(OURS, STRANGER) if stranger else (OURS,),
        xids=(XID,) if here(Misfortune.XID) else (),
        uncorrected_errors=int(here(Misfortune.ECC)),
        corrected_errors=0,
    )


def sm_clock_mhz(bench: SimulatedBench, at_s: float) -> float | None:
    """Lower by as much as the drift makes times longer."""
    highest = bench.world.board.max_sm_clock_mhz
    return None if highest is None else highest * math.exp(-moved(bench.world.noise, at_s))


class SimulatedSentry:
    """See `backends.timing.sentry.Sentry`: what he would have read since he was last asked, had those seconds passed."""

    def __init__(self, bench: SimulatedBench) -> None:
        self._bench = bench
        self._read_s = bench.now()

    def heard(self) -> tuple[Reading, ...]:
        passed = int((self._bench.now() - self._read_s) / PERIOD_S)
        moments = [self._read_s + PERIOD_S * (each + 1) for each in range(passed)]
        self._read_s += PERIOD_S * passed
        return tuple(replace(reading(self._bench, at_s), visiting=True) for at_s in moments[-MOST:])

    def stop(self) -> None: ...
