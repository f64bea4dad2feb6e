"""Stands in for `backends.trial` and `backends.rounds` in a worker under test: made-up times, no torch, and an arm
whose driver is named after a misfortune meets it. Everything around them, processes, pipes, guard and limits, is real."""

from __future__ import annotations

import ctypes
import os
import pathlib
import random
import signal
import sys
import time
from collections.abc import Callable, Collection, Iterator, Sequence

from backends.arm import Arm
from backends.blame import ArmFailed
from backends.cell import Cell, Phase
from backends.checks.tolerance import Incorrect
from backends.invalid import failure_of
from backends.measured import CellRound, Cost, Identity, Round, Trial, Visit
from backends.outcome import Outcome
from backends.phases import Say
from backends.spec import StageSpec, TimingSpec
from backends.timing.disturbance import Disturbed, Reading
from backends.timing.lookout import Lookout
from backends.timing.sampled import PLAIN, Manner
from backends.turns import ALONE, Turns

PAUSE_S = 0.02  # of a trial, and of a cell in a round


def run_trial(arm: Arm, cells: Sequence[Cell], stage: StageSpec, timing: TimingSpec, say: Say) -> Iterator[Trial]:
    say("import", arm=arm.name)
    meet(arm, "opened")
    for cell in cells:
        say("timing", arm=arm.name, cell=cell.name)
        time.sleep(PAUSE_S)
        try:
            meet(arm, "tried", cell)
        except Exception as error:
            failure = failure_of(error)
            yield Trial(arm.name, cell.name, failure.outcome, failure.detail)
            continue
        yield scripted_trial(arm.name, arm.backend, cell.name)
        meet(arm, "answered", cell)


def run_round(
    index: int,
    seed: int,
    arms: Sequence[Arm],
    cells: Sequence[Cell],
    stage: StageSpec,
    timing: TimingSpec,
    say: Say,
    skip: Collection[tuple[str, str]] = (),
    spaced: Collection[str] = (),
    turns: Turns = ALONE,
    manner: Manner = PLAIN,
) -> Iterator[CellRound | Round]:
    say("import")
    for arm in arms:
        meet(arm, "seated")
    done = []
    for cell in cells:
        racing = [arm for arm in arms if (arm.name, cell.name) not in skip]
        for arm in racing:
            say("timing", arm=arm.name, cell=cell.name)
            meet(arm, "raced", cell)
        time.sleep(PAUSE_S)
        done.append(scripted_cell_round(index, [arm.name for arm in racing], cell.name, timing.replays))
        yield done[-1]
    yield Round(index, seed, tuple(done), (("timing", 0.5),))


def scripted_trial(arm: str, backend: str, cell: str) -> Trial:
    us = scripted_us(random.Random(f"{arm}/{cell}"), arm)
    identity, cost = Identity("scripted", "eager", (f"{backend}_kernel",)), Cost(us, us, 1.0, 1.0)
    return Trial(arm, cell, Outcome.MEASURED, identity=identity, cost=cost, relative_error=1e-4, kernel_files=())


def scripted_cell_round(index: int, arms: Sequence[str], cell: str, samples: int) -> CellRound:
    """The same for the same arguments."""
    rng = random.Random(f"{index}/{cell}")
    visits = [Visit(0, place, arm, tuple(scripted_us(rng, arm) for _ in range(samples))) for place, arm in enumerate([*arms, *arms[::-1]])]
    return CellRound(cell, tuple((arm, 4) for arm in arms), tuple(visits), tuple((arm, 1.0, 1.0) for arm in arms), True)


def scripted_us(rng: random.Random, arm: str) -> float:
    """About 100 us, a fiftieth for an arm of the backend "swift"."""
    return rng.uniform(99.5, 100.5) * (0.02 if arm.startswith("swift/") else 1.0)


def meet(arm: Arm, moment: str, cell: Cell | None = None) -> None:
    """What befalls an arm with this driver ("scripted:segfaults") at this moment; nothing where nothing is written below."""
    misfortune = MISFORTUNES.get((arm.driver.partition(":")[2], moment))
    if misfortune is not None:
        misfortune(arm, cell)


def segfault(arm: Arm, cell: Cell | None) -> None:
    ctypes.string_at(0)


def segfault_on_decode(arm: Arm, cell: Cell | None) -> None:
    if cell is not None and cell.phase is Phase.DECODE:
        segfault(arm, cell)


def leave(arm: Arm, cell: Cell | None) -> None:
    os._exit(7)


def hang(arm: Arm, cell: Cell | None) -> None:
    ctypes.PyDLL(None).sleep(60)  # keeps the interpreter's lock


def run_out_of_memory(arm: Arm, cell: Cell | None) -> None:
    raise MemoryError("cannot allocate 20 GiB")


def answer_wrongly(arm: Arm, cell: Cell | None) -> None:
    raise Incorrect("relative error 0.3 is above 0.001")


def miss_a_module(arm: Arm, cell: Cell | None) -> None:
    import no_such_kernel_library  # noqa: F401


def write_garbage(arm: Arm, cell: Cell | None) -> None:
    """Where libraries print: the controller's line must be neither of them."""
    for descriptor in (1, 2):
        os.write(descriptor, b"{not json\n")


def fail_on_decode(arm: Arm, cell: Cell | None) -> None:
    if cell is not None and cell.phase is Phase.DECODE:
        raise ArmFailed(arm.name, cell.name, Outcome.INCORRECT, "relative error 0.3 is above 0.001")


def refuse_a_seat(arm: Arm, cell: Cell | None) -> None:
    raise ArmFailed(arm.name, None, Outcome.OUT_OF_MEMORY, "no room for a second workspace")


def break_off(arm: Arm, cell: Cell | None) -> None:
    sys.exit("a library gave up")


def overheat(arm: Arm, cell: Cell | None) -> None:
    cool, hot = Reading(0, 0, 60), Reading(0x40, 0, 91, 412.3, 990)
    void = Lookout(iter([cool, hot]).__next__).look()
    raise Disturbed(f"measurement invalid: {void}")


def lose_the_guard(arm: Arm, cell: Cell | None) -> None:
    """As if somebody killed what the controller started; the line ends without a word."""
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(60)


def once(misfortune: Callable[[Arm, Cell | None], None]) -> Callable[[Arm, Cell | None], None]:
    """Over all processes of a job."""

    def meet_it(arm: Arm, cell: Cell | None) -> None:
        marker = pathlib.Path(os.environ["SCRIPTED_FOLDER"], misfortune.__name__)
        if not marker.exists():
            marker.touch()
            misfortune(arm, cell)

    return meet_it


def wait_for_a_sign(arm: Arm, cell: Cell | None) -> None:
    while not pathlib.Path(os.environ["SCRIPTED_FOLDER"], "sign").exists():
        time.sleep(0.01)


MISFORTUNES: dict[tuple[str, str], Callable[[Arm, Cell | None], None]] = {
    ("dies_at_import", "opened"): leave,
    ("segfaults", "tried"): segfault,
    ("waits_for_a_sign", "tried"): wait_for_a_sign,
    ("segfaults_on_decode", "tried"): segfault_on_decode,
    ("dies_when_done", "answered"): leave,
    ("hangs", "tried"): hang,
    ("runs_out_of_memory", "tried"): run_out_of_memory,
    ("answers_wrongly", "tried"): answer_wrongly,
    ("misses_a_module", "tried"): miss_a_module,
    ("prints_garbage", "tried"): write_garbage,
    ("segfaults_in_rounds", "raced"): segfault,
    ("fails_in_rounds", "raced"): fail_on_decode,
    ("has_no_seat", "seated"): refuse_a_seat,
    ("breaks_rounds_off", "seated"): break_off,
    ("breaks_a_round_off", "seated"): once(break_off),
    ("overheats", "raced"): overheat,
    ("overheats_once", "raced"): once(overheat),
    ("loses_its_guard", "tried"): lose_the_guard,
    ("loses_its_guard_once", "tried"): once(lose_the_guard),
}
