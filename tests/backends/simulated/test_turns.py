"""A process that shares its device with another one, which is not there: whatever it says, in order."""

from __future__ import annotations

from itertools import groupby

from backends import rounds
from tests.backends.simulated.worlds import CALM, CELLS, FA3, FLASHINFER, TIMING, stage


class Turns:
    """Notes each time that the device is handed over."""

    def __init__(self, said: list[str], shared: bool = True) -> None:
        self.shared = shared
        self._said = said

    def hand_over(self) -> None:
        self._said.append("hand over")


def phases(shared: bool) -> list[str]:
    """Of one cell, a phase once however long it lasted."""
    said: list[str] = []
    turns = Turns(said, shared)
    asked = 0, 1, (FA3, FLASHINFER), CELLS[:1], stage(CALM), TIMING, lambda phase, *_, **__: said.append(phase)
    list(rounds.run(*asked, turns=turns))
    return [phase for phase, _ in groupby(said)]


def test_after_the_other_process_has_warmed_up_this_one_does_so_again_before_it_is_timed() -> None:
    told = phases(shared=True)
    first = told.index("timing")
    assert told[first - 3 : first] == ["warmup", "hand over", "warmup"] and told[first + 1] == "hand over"


def test_alone_it_warms_up_once() -> None:
    told = phases(shared=False)
    assert told.count("warmup") == 1 and told[told.index("warmup") + 1] == "timing"
