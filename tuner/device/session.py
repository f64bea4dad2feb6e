"""The machine the arms run on, for the length of one job: its lock, its facts, and fresh workers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

from backends.arm import Arm
from backends.company import WAITING
from backends.environment import Board
from backends.outcome import Outcome
from backends.spec import StageSpec
from backends.worker.near import NEAR
from tuner.clock import PhaseClock
from tuner.device.host import Host
from tuner.device.keeper import Keeper
from tuner.device.patience import Company
from tuner.progress import Progress
from tuner.workers.ahead import Ahead
from tuner.workers.failure import Place, WorkerFailed
from tuner.workers.process import Worker

GIB = 1 << 30
MOST_AHEAD = 3  # processes that import at a time
CPUS_EACH, MEMORY_EACH = 4, 4 * GIB  # importing keeps one or two busy, the measuring process launches with another; with SGLang 2 GiB


class Session:
    """Begins the processes that measure, beside the keeper, which answers for their machine and holds its lock until the job ends."""

    def __init__(self, host: Host, progress: Progress, clock: PhaseClock, ahead: bool = False) -> None:
        """``ahead``: processes may import while the one before them measures."""
        self.keeper = Keeper(host, progress, clock)
        self.progress = progress
        self.clock = clock
        self.company = Company("the device")
        self._host = host
        self._at_work: Worker | None = None
        self._ended = False
        self._ahead = Ahead()
        self._may_import_ahead = ahead
        self._expected: tuple[tuple[Sequence[Arm], ...], bool] | None = None
        self._partners: tuple[Session, ...] = ()
        self._processes = 0

    def __enter__(self) -> Self:
        self.keeper.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._ahead.end()
        self.keeper.__exit__(kind, error, trace)

    def worker(self, arms: Iterable[Arm], others: bool = False) -> Worker:
        """The process that measures ``arms``, a context manager: one that imported ahead for them, else a fresh one.
        ``others``: it may have imported for further arms."""
        self._at_work = self._ahead.take(arms, others) or self._fresh_worker()
        if self._ended:
            self._at_work.kill()
            raise WorkerFailed(Outcome.INTERRUPTED, "the session has ended", Place())
        return self._at_work

    def kill(self) -> None:
        """From another thread than its own: end the process that measures, so that who waits for its answer learns that it broke off, those
        that import for the next ones, and begin no other."""
        self._ended = True
        self._ahead.kill()
        if self._at_work is not None:
            self._at_work.kill()

    def share_quiet(self, other: Session) -> None:
        """Where one of the two times, nobody imports for the other. Before either measures."""
        self._partners, other._partners = (*self._partners, other), (*other._partners, self)

    def keep_near(self, device: str) -> None:
        """Processes from now on keep to the processors near the GPU of that UUID, as where others are measured beside it."""
        self._host = replace(self._host, variables={**self._host.variables, NEAR: device})

    def expect(self, coming: Iterable[Sequence[Arm]], others: bool = False) -> None:
        """The arms of each process after the present one, as far as they are foreseen, the next one first; ``others`` as for `worker`."""
        self._expected = tuple(coming), others

    def import_ahead(self) -> None:
        """Start the processes after the present one, which is at work, on their imports, as many as there is room for.

        Nothing happens unless the request asks for it, on a CPU, where it would take cores from what is measured, with few
        processors or little memory, and once imports opened a context on the device.
        """
        if self._may_import_ahead and self._expected is not None and (most := self._room()) and not self._ahead.disturbs:
            coming, others = self._expected
            self._ahead.prepare(coming[:most], self._fresh_worker, others)
            self._expected = None

    def was_disturbed(self) -> bool:
        """Whether imports that ran beside the process that just ended opened a context on the device; waits for those that never did
        without."""
        before = self._ahead.disturbs
        self._ahead.settle()
        return self._ahead.disturbs and not before

    def awaits_others(self, progress: Mapping[str, Any]) -> bool:
        """Whether the process that says ``progress`` has not begun, since others use the device; shows that it waits.

        Raises `MeasurementInvalid` where they are waited for no longer.
        """
        if progress["phase"] != WAITING:
            self.company.left()
            return False
        self.clock.enter("waiting")
        if others := progress["detail"]:
            self.progress.phase(f"waiting until {self.company.device} is free", f"{others}; {self.company.bear(others)}")
        return True

    def _fresh_worker(self) -> Worker:
        return self._host.worker(self._hush_all if self._may_import_ahead else None)

    def _room(self) -> int:
        """For processes that import; none before the machine was asked for facts."""
        seen = self.keeper.seen
        return 0 if seen is None or self._host.world else room(seen.environment.board, seen.cpus, seen.memory_bytes)

    def _hush_all(self, wanted: bool) -> None:
        for each in (self, *self._partners):
            each._ahead.hush(wanted)

    def staged(self, stage: StageSpec) -> StageSpec:
        """``stage`` as the next process that measures is told of it; asked once a process."""
        self._processes += 1
        world = self._host.world
        return stage if world is None else replace(stage, simulation=world.of_process(self._processes))


def room(board: Board, cpus: int, memory_bytes: int | None) -> int:
    """How many processes may import while another one measures on ``board``, beside so much free memory (None = nobody knows)."""
    if board.kind != "cuda":
        return 0
    return min(MOST_AHEAD, cpus // CPUS_EACH, MOST_AHEAD if memory_bytes is None else memory_bytes // MEMORY_EACH)
