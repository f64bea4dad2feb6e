"""One backend opened once for each geometry of a model's layers, each on a pool of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from backends.memory import total

if TYPE_CHECKING:
    from backends.driver import CellData, Driver, KvPool, PreparedCall


class DriverOfKinds:
    """See `backends.driver.Driver`; a cell goes to the driver of its pool.

    A server has one backend over a pool in two parts and translates token slots from one to the other once a step, which is not
    timed here (sglang/srt/mem_cache/swa_memory_pool.py).
    """

    def __init__(self, drivers: Sequence[tuple[KvPool, Driver]]) -> None:
        self._drivers = tuple(drivers)
        self.imports = tuple(dict.fromkeys(name for driver in self._each() for name in driver.imports))
        counted = [getattr(driver, "server_bytes", None) for driver in self._each()]
        self.server_bytes = total(*counted)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Those logged up to now: an engine goes on while it runs."""
        return tuple(dict.fromkeys(text for driver in self._each() for text in getattr(driver, "warnings", ())))

    def prepare(self, data: CellData) -> PreparedCall:
        driver = next(driver for pool, driver in self._drivers if pool is data.pool)
        return driver.prepare(data)

    def close(self) -> None:
        for driver in self._each():
            driver.close()

    def _each(self) -> Iterator[Driver]:
        return (driver for _, driver in self._drivers)
