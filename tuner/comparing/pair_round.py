"""One pair of fresh processes, one a side, both alive: the device goes to and fro between them in balanced blocks.

A block is A B B A or B A A B, by chance; in its pass a side visits all its arms, in the second one in reverse, so that every arm
of either side has the same mean position. Source: the measuring protocol, section 4.2.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

from backends.measured import Round
from backends.outcome import Outcome
from backends.wire import from_plain
from backends.worker.turn_taking import TURN
from tuner.comparing.differences import too_few_blocks
from tuner.job import Job
from tuner.workers.failure import Place, WorkerFailed
from tuner.workers.process import Worker


class SideFailed(Exception):
    """``failure`` of the process of ``side`` (0 = the baseline)."""

    def __init__(self, side: int, failure: WorkerFailed) -> None:
        super().__init__(str(failure))
        self.side = side
        self.failure = failure


class Player:
    """One side's process, which works while it has the device and stands still while it has not."""

    def __init__(self, side: int, job: Job, worker: Worker, message: Mapping[str, Any], headline: str, turns: bool = True) -> None:
        """``turns``: another process stands on the device too."""
        self._side = side
        self._job = job
        self._worker = worker
        self._headline = headline
        self._events = worker.ask({**message, "turns": turns})
        self._round: Round | None = None
        self._waits = False

    def turn(self) -> bool:
        """Let it work until it hands the device over; False when it has ended instead. Raises `SideFailed`."""
        if self._waits:
            self._worker.go_on()
        try:
            for event in self._events:
                if event["event"] == TURN:
                    self._waits = True
                    return True
                self._hear(event)
        except WorkerFailed as failure:
            raise SideFailed(self._side, failure) from failure
        return False

    def _hear(self, event: dict[str, Any]) -> None:
        self._job.hear(event, self._headline)
        if event["event"] == "round":
            self._round = from_plain(Round, event["round"])

    @property
    def round(self) -> Round:
        if self._round is None:
            raise RuntimeError(f"the worker of side {self._side} ended without its round")
        return self._round


def measure_pair(
    jobs: Sequence[Job], messages: Sequence[Mapping[str, Any]], workers: Sequence[Worker], headline: str
) -> tuple[Round, Round]:
    """Both rounds, baseline first. ``messages`` of one seed. Raises `SideFailed`."""
    players = [Player(side, *each, headline) for side, each in enumerate(zip(jobs, workers, messages))]
    rng = random.Random(f"{messages[0]['seed']}/sides")
    blocks = jobs[0].scenario.measure.timing.blocks
    for _ in ("their imports, at once", "their places on the device"):
        _each(players, rng)
    while _each(players, rng):  # what is left of the cell before, and getting ready for the next
        for _ in range(blocks):
            outer, inner = rng.sample(players, 2)
            for player in (outer, inner, inner, outer):
                player.turn()
    return _whole([player.round for player in players])


def measure_in_turn(
    jobs: Sequence[Job], messages: Sequence[Mapping[str, Any]], workers: Sequence[Worker], order: Sequence[int], headline: str
) -> tuple[Round, Round]:
    """As `measure_pair`, each process alone, in the ``order`` of their sides. ``workers`` are entered here."""
    found: dict[int, Round] = {}
    for side in order:
        jobs[side].session.clock.enter("import")
        with workers[side] as worker:
            player = Player(side, jobs[side], worker, messages[side], headline, turns=False)
            player.turn()
            found[side] = player.round
    return _whole([found[0], found[1]])


def _whole(rounds: Sequence[Round]) -> tuple[Round, Round]:
    """Raises `SideFailed` for the side that lost too many blocks."""
    old, new = rounds
    if lost := too_few_blocks((old, new)):
        poorer = int(_visits(new) < _visits(old))
        raise SideFailed(poorer, WorkerFailed(Outcome.INTERRUPTED, lost, Place()))
    return old, new


def _visits(measured: Round) -> int:
    return sum(len(cell.visits) for cell in measured.cells)


def _each(players: Sequence[Player], rng: random.Random) -> bool:
    """One turn each; whether both go on. Raises RuntimeError where they are out of step."""
    go_on = {player.turn() for player in rng.sample(list(players), len(players))}
    if len(go_on) > 1:
        raise RuntimeError("one side of a pair ended before the other; this is a fault of attnpin")
    return go_on.pop()
