"""What every step of a tuning job holds in its hands, and how it listens to a worker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from backends.arm import Arm
from backends.cell import Cell
from backends.spec import StageSpec
from backends.wire import to_plain
from store.connect import Store
from store.scenario import Scenario, WeightedCell
from tuner.session import Session


@dataclass(frozen=True)
class Job:
    """One run on one machine, stored as ``run_id``."""

    scenario: Scenario
    store: Store
    run_id: str
    session: Session
    stage: StageSpec
    arms: tuple[Arm, ...]
    cells: tuple[WeightedCell, ...]

    def question(self, do: str, cells: tuple[Cell, ...], **fields: Any) -> dict[str, Any]:
        """A message that carries the stage, the timing and ``cells``."""
        return {
            "do": do,
            "cells": to_plain(cells),
            "stage": to_plain(self.stage),
            "timing": to_plain(self.scenario.measure.timing),
            **{key: to_plain(value) for key, value in fields.items()},
        }

    def hear(self, event: dict[str, Any], headline: str) -> None:
        """Book the time and show the phase of a progress event; other events pass by."""
        if event["event"] != "progress":
            return
        self.session.clock.enter(event["phase"])
        where = (str(event[key]) for key in ("arm", "cell") if event.get(key) and str(event[key]) not in headline)
        self.session.progress.phase(headline, " ".join((event["phase"], *where)))
