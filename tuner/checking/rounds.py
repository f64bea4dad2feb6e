"""The rounds of a check: how many fresh processes with which arms, and whether kernels that never change are timed around them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count

from store.runs.repository import load_run
from store.runs.run import Run
from tuner.arithmetic.looks import looks_up_to
from tuner.budgeting.rationing import rounds_fit
from tuner.checking.pinned import Pinned
from tuner.checking.untouched import watched
from tuner.device.anchors import keep_anchors
from tuner.device.patience import Patience
from tuner.job import Job
from tuner.race import run_round
from tuner.racing.next_round import NextRound, foreseen, next_round
from tuner.racing.sieve import Entrant, measured_trials
from tuner.verdicts.stored import FEWEST


def first_look(run: Run) -> int:
    """Processes that time what is served and what nothing touched, however slow: up to the first look of a race, which may then be decided,
    or the fewest where one arm is held against its own past. What two sittings differ by does not shrink with more (the measuring protocol,
    section 4.3)."""
    most = run.scenario.measure.processes
    return min(most, FEWEST) if len(run.arms) == 1 else looks_up_to(most)[0]


def take_rounds(pinned: Pinned, job: Job) -> None:
    """Those of `first_look`; then, where what the pin was decided against changed too, as a race goes on. Raises `MeasurementInvalid` as
    that."""
    patience: dict[int, Patience] = {}
    while (coming := next_of(pinned, run := load_run(job.store, job.run_id))) and rounds_fit(job, coming.arms, 1):
        further = first_look(run) - len(run.race) - 1
        job.session.expect([coming.arms] * further if further > 0 else foreseen(run, coming), others=True)
        run_round(job, coming, patience.setdefault(coming.index, Patience(f"round {coming.index + 1}")))


def next_of(pinned: Pinned, run: Run) -> NextRound | None:
    """None: nothing more is to be timed before it is said what is pinned today."""
    coming = next_round(run) if pinned.rests.rivals and run.race else None
    racing = coming.field if coming is not None and not coming.confirms else ()
    if len(run.race) >= first_look(run):
        return coming if racing else None
    field = tuple(_staying(pinned, run, racing))
    return (
        NextRound(next(number for number in count() if all(each.index != number for each in run.rounds)), field, False) if field else None
    )


def _staying(pinned: Pinned, run: Run, racing: Sequence[Entrant]) -> Iterator[Entrant]:
    """All that gave a time; of what the pin was decided against and what changed too, once there is a round, those still ``racing``."""
    rivals = {name for _, name in pinned.rests.rivals} - {name for _, name in pinned.rests.served}
    timed, seated = measured_trials(run.trials), {each.arm.name: each for each in racing}
    for arm in run.arms:
        cells = frozenset(cell for name, cell in timed if name == arm.name)
        if cells and (arm.name not in rivals or not run.race):
            yield Entrant(arm, cells)
        elif arm.name in seated:
            yield seated[arm.name]


@contextmanager
def anchored(pinned: Pinned, job: Job) -> Iterator[None]:
    """Kernels that never change before and after, where those stand in the pin's evidence and are wanted: where other arms tell what the
    board moved by, by a pin that is written anew alone."""
    run = load_run(job.store, job.run_id)
    wanted = pinned.then.anchors and (pinned.renew or not watched(pinned.then, run, pinned.rests))
    if wanted:
        keep_anchors(job, run.environment.board)
    yield
    if wanted:
        keep_anchors(job, run.environment.board)
