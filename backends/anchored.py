"""What kernels whose code never changes take on a device: they tell one sitting from another where everything else may differ."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

VISITS = 10
KNOWN_US, KNOWN_WITHIN = 100.0, 0.005


@dataclass(frozen=True)
class Anchors:
    """One median a visit, in us; empty = not to be had here. ``read_us``: a stream of ``read_bytes`` from memory. ``multiply_us``:
    a loop on the tensor cores at full load. ``nothing_us``: 64 kernels that do nothing, in a graph. ``spin_us``: what a kernel takes
    longer that runs for `KNOWN_US` more, timed as an arm is (early calibrations have none).

    ``bandwidth_bytes_per_s`` and ``flops_per_s`` are the device's limits by whatever libraries it is driven with, so they are none.
    """

    bandwidth_bytes_per_s: float
    flops_per_s: float
    read_bytes: int = 0
    read_us: tuple[float, ...] = ()
    multiply_us: tuple[float, ...] = ()
    nothing_us: tuple[float, ...] = ()
    why_none: str | None = None
    spin_us: tuple[float, ...] = ()

    @property
    def measured_of_known(self) -> float | None:
        """How long a known time is measured, as a ratio; 1 is right."""
        return median(self.spin_us) / KNOWN_US if self.spin_us else None
