"""A driver that takes memory from an allocator of its own, which tests put in the place of torch's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.backends.faulty import Plain, PlainCall

if TYPE_CHECKING:
    from backends.arm import Arm
    from backends.driver import CellData, KvPool, PreparedCall, Stage

SERVER, WORKSPACE, LATE, CALL = 300, 700, 5, 40


class Allocator:
    """What is allocated just now, in bytes."""

    allocated = 0

    @classmethod
    def read(cls) -> int:
        return cls.allocated


class HoardingCall(PlainCall):
    def __init__(self, data: CellData) -> None:
        super().__init__(data)
        Allocator.allocated += CALL

    def close(self) -> None:
        Allocator.allocated -= CALL


class Hoards(Plain):
    """Takes `SERVER` and `WORKSPACE` when it is opened, `LATE` for good with its first call, `CALL` for each call."""

    server_bytes = SERVER

    def __init__(self, arm: Arm, stage: Stage, pool: KvPool) -> None:
        super().__init__(arm, stage, pool)
        Allocator.allocated += SERVER + WORKSPACE
        self._late = LATE

    def prepare(self, data: CellData) -> PreparedCall:
        Allocator.allocated += self._late
        self._late = 0
        return HoardingCall(data)
