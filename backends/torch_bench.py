"""The bench of a GPU or CPU that torch drives."""

from __future__ import annotations

import importlib
import time
from contextlib import AbstractContextManager
from functools import cached_property
from typing import TYPE_CHECKING

from backends import cuda_driver, device
from backends.anchored import Anchors
from backends.checks.checker import Checker
from backends.kv.inputs import lay_out
from backends.kv.pool import build_pool
from backends.memory import Reading, held
from backends.placement import Ballast
from backends.step.timed import rest_times
from backends.timing.anchor_kernels import anchors_of
from backends.timing.autotuned import choices, tuners
from backends.timing.capture import ReplayedCall
from backends.timing.garbage import set_aside
from backends.timing.identity import Names, identify, launches_of
from backends.timing.instruments import Instruments
from backends.timing.lookout import Lookout, lookout_over
from backends.timing.queued import QueuedCall
from backends.timing.roofline import Roofline
from backends.timing.soundness import soundness
from backends.timing.timed import Timed, make_timed
from backends.worker import occupancy

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Mapping

    import torch

    from backends.arm import Arm
    from backends.cell import Cell
    from backends.deviation import Deviation
    from backends.driver import CellData, Driver, KvPool, PreparedCall, Stage
    from backends.kv.rotation import PoolPlan
    from backends.measured import Identity, KernelNode, Soundness
    from backends.model import LayerKind
    from backends.spec import TimingSpec
    from backends.step.shape import RestTimes, StepShape
    from backends.timing.sampled import Manner


class TorchBench:
    """See `backends.bench.Bench`."""

    def __init__(self, kind: str, streamed: Mapping[str, int] | None = None) -> None:
        """``streamed`` as for `Instruments`."""
        self.type = kind
        self._streamed = streamed
        self._opened: torch.device | None = None
        self._told: dict[Names, Names] = {}
        self._tuners: tuple[object, ...] = ()

    def now(self) -> float:
        return time.perf_counter()

    def taken_bytes(self) -> int | None:
        """Imports torch."""
        importlib.import_module("torch")
        ours = self.type != "cuda" or cuda_driver.context_is_open()  # then some of what is taken is this process's own
        return None if ours else occupancy.taken_bytes()

    def open(self) -> torch.device:
        """Imports torch."""
        self._opened = device.open_device(self.type)
        return self._opened

    def working(self) -> AbstractContextManager[object]:
        import torch

        return torch.no_grad()

    def synchronize(self) -> None:
        device.synchronize(self._device)

    def release(self) -> None:
        device.release(self._device)

    def keep(self) -> None:
        self.release()
        self._tuners = (*self._tuners, *tuners())
        set_aside()

    def free_bytes(self) -> int:
        return device.free_bytes(self._device)

    def cache_bytes(self) -> int:
        return device.cache_bytes(self._device)

    def limit_memory(self, budget_bytes: int) -> None:
        device.limit_memory(self._device, budget_bytes)

    def held(self) -> Reading:
        return held(self._device)

    def restart_peak(self) -> None:
        device.restart_peak(self._device)

    def peak_bytes(self) -> int:
        return device.peak_bytes(self._device)

    def limits(self, dtype: str) -> Roofline:
        return Roofline(self._device, dtype)

    def build_pool(self, plan: PoolPlan, layer: LayerKind, seed: int) -> KvPool:
        return build_pool(plan, layer, self._device, seed)

    def lay_out(self, cell: Cell, pool: KvPool, context_length: int) -> CellData:
        return lay_out(cell, pool, context_length)

    def ballast(self, rng: random.Random) -> Ballast:
        return Ballast(self._device, rng)

    def open_driver(self, arm: Arm, stage: Stage, pool: KvPool) -> Driver:
        module, _, name = arm.driver.partition(":")
        driver: Driver = getattr(importlib.import_module(module), name)(arm, stage, pool)
        return driver

    def timed(self, call: PreparedCall, data: CellData, slots: int, timing: TimingSpec, manner: Manner) -> Timed:
        return make_timed(call, data, slots, timing, manner, self._instruments)

    def eagerly(self, call: PreparedCall, slots: int, timing: TimingSpec) -> Timed:
        return QueuedCall(call, slots, timing)

    def soundness(self, call: PreparedCall, timed: Timed, pools: int, timing: TimingSpec) -> Soundness | None:
        return soundness(call, timed, pools, timing, self._instruments) if isinstance(timed, ReplayedCall) else None

    def checker(self, data: CellData, slot: int, soft_cap: float | None, deviation: Deviation | None) -> Checker:
        return Checker(data, slot, soft_cap, deviation)

    def launches(self, call: PreparedCall, timed: Timed) -> tuple[KernelNode, ...]:
        return () if self.type == "cpu" else launches_of(call, timed)

    def identify(self, call: PreparedCall, timed: Timed) -> Identity:
        return identify(call, timed, self._device, self._told)

    def autotuned(self) -> tuple[tuple[str, str], ...]:
        return choices(self._tuners)

    def anchors(self, dtype: str, timing: TimingSpec, code: bytes | None) -> tuple[Anchors, bytes | None]:
        limits = self.limits(dtype).limits
        if self.type == "cuda":
            return anchors_of(self._device, limits, timing, code, self._instruments.clock)
        return Anchors(limits.bandwidth_bytes_per_s, limits.flops_per_s, why_none="a processor has none"), None

    def rest_times(self, shape: StepShape, timing: TimingSpec, warm: Callable[[], bool]) -> RestTimes:
        clock = self._instruments.clock if self.type == "cuda" else None
        return rest_times(shape, self._device, timing, clock, warm)

    def lookout(self) -> Lookout:
        return lookout_over(self._device)

    def rest(self, seconds: float) -> None:
        time.sleep(seconds)

    @cached_property
    def _instruments(self) -> Instruments:
        return Instruments(self._device, self._streamed)

    @property
    def _device(self) -> torch.device:
        if self._opened is None:
            raise RuntimeError(f"the {self.type} bench is used before it was opened")
        return self._opened
