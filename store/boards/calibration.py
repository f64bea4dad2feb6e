"""How much times vary on one board by themselves: every arm against itself, and kernels that never change."""

from __future__ import annotations

from dataclasses import dataclass

from backends.anchored import Anchors
from backends.environment import Board

LIFE_DAYS = 30


@dataclass(frozen=True)
class BoardKey:
    """What a calibration holds for: this very board under this driver and this power limit. None = not readable there."""

    name: str
    uuid: str | None
    driver: str | None
    power_limit_w: float | None
    mig: str | None

    @property
    def columns(self) -> dict[str, str | float | None]:
        """By the names of the tables' columns."""
        named = {"board": self.name, "board_uuid": self.uuid, "driver": self.driver}
        return {**named, "power_limit_w": self.power_limit_w, "mig": self.mig}


def key_of(board: Board) -> BoardKey:
    return BoardKey(board.name, board.uuid, board.driver, board.power_limit_w, board.mig)


@dataclass(frozen=True)
class ArmNoise:
    """One arm against its copy on one cell: ``processes`` fresh ones, in each of which the two were visited in turn.

    All but counts are fractions of a time. ``mean`` of the difference, which should be 0; standard deviations of one visit, of a
    block's difference, of a process's difference (sigma_0). ``lag1``: how far one block's difference foretells the next (None:
    too few to tell). ``two_mode``: processes fall into two bands. ``floor``: 99 of 100 means of so many processes lie below it.
    ``equivalent``: what a comparison would have said. ``with_host``: its calls are launched eagerly, so their times hold the host's.
    """

    arm: str
    backend: str
    cell: str
    processes: int
    mean: float
    sigma_visit: float
    sigma_block: float
    sigma_process: float
    lag1: float | None
    two_mode: bool
    floor: float
    equivalent: bool
    with_host: bool = False


@dataclass(frozen=True)
class NeighbourEffect:
    """One arm on one cell, fractions of a time: how far it ``moved`` against all arms of its process once neighbours were busy, and the
    standard deviation of a process's difference between it and its copy, alone and beside them."""

    arm: str
    cell: str
    moved: float
    sigma_alone: float
    sigma_beside: float

    def within(self, floor: float) -> bool:
        return abs(self.moved) <= floor and self.sigma_beside - self.sigma_alone <= floor


@dataclass(frozen=True)
class Neighbours:
    """What ``boards`` other boards of the host did while they were busy, over ``processes`` fresh ones. ``common``: by how much all arms
    moved alike, a fraction, which cancels in every comparison."""

    boards: int
    processes: int
    common: float
    effects: tuple[NeighbourEffect, ...]

    def harmless(self, floor: float) -> bool:
        """Whether neither a mean nor a sigma moved by more than ``floor``."""
        return bool(self.effects) and all(effect.within(floor) for effect in self.effects)


@dataclass(frozen=True)
class Calibration:
    """``run`` holds the rounds it comes of; ``sigma_0`` is the process-level noise to reckon with; ``anchors`` before the rounds and
    after; ``neighbours`` where it was asked what they do."""

    run: str
    created: str
    board: BoardKey
    protocol: int
    sigma_0: float
    noise: tuple[ArmNoise, ...]
    anchors: tuple[Anchors, ...]
    neighbours: Neighbours | None = None

    @property
    def neighbours_are_harmless(self) -> bool:
        return self.neighbours is not None and self.neighbours.harmless(self.sigma_0)

    @property
    def floor(self) -> NoiseFloor:
        return NoiseFloor(self.sigma_0, self.run, self.created, any(each.two_mode for each in self.noise))


@dataclass(frozen=True)
class NoiseFloor:
    """What a run takes from the calibration ``run`` of its board. ``two_mode``: some arm's processes fall into two bands there, or nobody
    wrote down whether they do."""

    sigma_0: float
    run: str
    created: str
    two_mode: bool = True
