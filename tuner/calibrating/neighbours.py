"""What busy neighbours do to a board: rounds in which every arm was measured twice, taken alone and beside them, held together. Pure.

y = ln(time). In a process, y of an arm less the mean y of all arms on that cell is what any comparison rests on: what neighbours do to all
arms alike cancels in it, and is told beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

from backends.arm import Arm
from backends.measured import Round
from store.boards.calibration import ArmNoise, NeighbourEffect, Neighbours
from tuner.arithmetic.objective import process_of
from tuner.calibrating.noise import noise_of

Key = tuple[str, str]  # arm, cell


def neighbours_of(arms: Sequence[Arm], alone: Sequence[Round], beside: Sequence[Round], boards: int) -> Neighbours:
    """Of the rounds taken ``alone`` on the board and ``beside`` as many busy other ``boards``."""
    quiet, busy = _sigmas(noise_of(arms, alone)), _sigmas(noise_of(arms, beside))
    before, after = _centred(alone), _centred(beside)
    effects = tuple(
        NeighbourEffect(arm, cell, after[arm, cell] - before[arm, cell], quiet[arm, cell], busy[arm, cell])
        for arm, cell in quiet
        if (arm, cell) in busy
    )
    return Neighbours(boards, len(beside), _common(beside) - _common(alone), effects)


def _sigmas(noise: Iterable[ArmNoise]) -> Mapping[Key, float]:
    return {(each.arm, each.cell): each.sigma_process for each in noise}


def _centred(rounds: Iterable[Round]) -> Mapping[Key, float]:
    """y of each arm less that of all arms on the cell, the mean over processes."""
    found: dict[Key, list[float]] = {}
    for process in map(process_of, rounds):
        for (arm, cell), y in process.ln_us.items():
            found.setdefault((arm, cell), []).append(y - fmean(other for (_, name), other in process.ln_us.items() if name == cell))
    return {key: fmean(values) for key, values in found.items()}


def _common(rounds: Iterable[Round]) -> float:
    return fmean(fmean(process.ln_us.values()) for process in map(process_of, rounds))
