"""A finished calibration as it is kept: all that a verdict on it, or a comparison with another, rests on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from backends.anchored import Anchors
from backends.arm import Arm
from backends.cell import Cell
from backends.environment import Board, Distribution
from backends.measured import Round, Soundness
from backends.timing.disturbance import CAPPED
from backends.wire import from_plain, to_plain
from store.evidence.run_evidence import reduced
from store.runs.run import FINISHED, Run
from tuner.arithmetic.objective import Process, process_of

BESIDE = ("torch", "triton")  # import names that every arm runs on


@dataclass(frozen=True)
class Sound:
    """How an arm was timed on a cell in its probe."""

    arm: str
    cell: str
    soundness: Soundness


@dataclass(frozen=True)
class Sitting:
    """``board`` tells boards apart and does not name them. ``rounds`` hold one sample a visit, its median, to seven digits.
    ``anchors`` before the rounds and after; empty where the calibration ended without them. ``slowed_on``: names of the cells that copies
    were slowed on; empty = all of them. ``sound`` of its own probes alone."""

    run: str
    created: str
    board: str
    gpu: str
    driver: str | None
    power_limit_w: float | None
    protocol: int
    distributions: tuple[Distribution, ...]
    arms: tuple[Arm, ...]
    cells: tuple[Cell, ...]
    sound: tuple[Sound, ...]
    rounds: tuple[Round, ...]
    anchors: tuple[Anchors, ...] = ()
    slowed_on: tuple[str, ...] = ()

    @property
    def originals(self) -> tuple[Arm, ...]:
        return tuple(arm for arm in self.arms if arm.is_original)

    @cached_property
    def processes(self) -> tuple[Process, ...]:
        return tuple(map(process_of, self.rounds))

    @property
    def power_capped(self) -> bool:
        return any(CAPPED in measured.labels for measured in self.rounds)

    def ln_us(self, arm: str, cell: str) -> tuple[float | None, ...]:
        """Of every process; None where it did not time the two."""
        return tuple(process.ln_us.get((arm, cell)) for process in self.processes)

    def timed(self, arms: Iterable[str]) -> tuple[str, ...]:
        """Cells that all of ``arms`` were timed on in every process that the cell was in, two at least: one that is decided leaves."""
        wanted = tuple(arms)
        return tuple(cell.name for cell in self.cells if self._is_timed(wanted, cell.name))

    def _is_timed(self, arms: Iterable[str], cell: str) -> bool:
        there = [place for place, measured in enumerate(self.rounds) if any(each.cell == cell for each in measured.cells)]
        return len(there) > 1 and all(self.ln_us(arm, cell)[place] is not None for arm in arms for place in there)


def is_sitting(run: Run) -> bool:
    """Whether arms were measured beside copies of themselves, to the end or in all the processes that were asked for, on a GPU that is
    one."""
    copied = any(not arm.is_original for arm in run.arms)
    ended = run.status == FINISHED or run.scenario.measure.processes <= len(run.rounds)
    return copied and ended and bool(run.rounds) and run.environment.board.driver != "simulated"


def sitting_of(run: Run, anchors: tuple[Anchors, ...]) -> Sitting:
    environment, originals = run.environment, {arm.name for arm in run.arms if arm.is_original}
    board, owners = environment.board, dict(environment.imports)
    wanted = {owners.get(name) for arm in run.arms for name in (*BESIDE, *arm.packages)}
    own = (trial for trial in run.trials if trial.arm in originals and trial.probed_in is None)
    slowed = {trial.cell for trial in run.trials if trial.arm in {arm.name for arm in run.arms if arm.slowed}}
    return Sitting(
        run=run.id,
        created=run.created,
        board=fingerprint(board),
        gpu=board.name,
        driver=board.driver,
        power_limit_w=board.power_limit_w,
        protocol=run.protocol,
        distributions=tuple(each for each in environment.distributions if each.name in wanted),
        arms=run.arms,
        cells=tuple(weighted.cell for weighted in run.cells),
        sound=tuple(Sound(trial.arm, trial.cell, trial.soundness) for trial in own if trial.soundness),
        rounds=tuple(_short(measured) for measured in reduced(run).rounds),
        anchors=anchors,
        slowed_on=tuple(weighted.cell.name for weighted in run.cells if weighted.cell.name in slowed),
    )


def fingerprint(board: Board) -> str:
    """Of what cannot be guessed from it."""
    return hashlib.sha256(json.dumps([board.uuid, board.mig]).encode()).hexdigest()[:8]


def _short(measured: Round) -> Round:
    return from_plain(Round, rounded(to_plain(measured)))


def rounded(plain: Any) -> Any:
    """Numbers as 32-bit floats hold them, in the shortest words."""
    if isinstance(plain, float):
        return float(str(np.float32(plain)))
    if isinstance(plain, Mapping):
        return {key: rounded(value) for key, value in plain.items()}
    return [rounded(value) for value in plain] if isinstance(plain, list) else plain
