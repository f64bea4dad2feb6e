"""An arm that failed on a lent board: its own fault, or that board's? The run's own board tells."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from backends.arm import Arm
from backends.outcome import Outcome
from store.scenario import Engine
from tuner.rounds.lent import Answer
from tuner.workers.failure import WorkerFailed
from tuner.workload.ranks import world_size


@dataclass(frozen=True)
class Doubt:
    """The ``failure`` on the lent board ``place``."""

    place: int
    failure: WorkerFailed

    def word(self, arms: Iterable[Arm]) -> str | None:
        """What is to be said where ``arms`` came through on the run's own board; None where the one that failed has left meanwhile."""
        if self.failure.arm not in {arm.name for arm in arms}:
            return None
        return f"{self.failure.arm} failed on another board ({self.failure.outcome.value}) and not on the run's own"


def doubt_of(answer: Answer, place: int, engine: Engine) -> Doubt | None:
    """None where there is none: of several ranks, whose server runs on every one of the boards, an arm that fails on any is lost; and
    where no arm is to blame, the round is measured again anyway."""
    if not isinstance(answer, WorkerFailed) or answer.outcome is Outcome.INTERRUPTED or answer.arm is None:
        return None
    return Doubt(place, answer) if world_size(engine) == 1 else None
