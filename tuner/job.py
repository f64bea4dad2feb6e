"""What every step of a tuning job holds in its hands, and how it listens to a worker."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from backends.arm import Arm
from backends.cell import Cell, Phase
from backends.measured import Round, Trial
from backends.spec import StageSpec
from backends.wire import to_plain
from store.database.connect import Store
from store.plan import Plan
from store.runs.repository import add_round, add_trials, add_wall_seconds
from store.runs.run import Run
from store.scenario import Exclusion, Scenario, WeightedCell
from tuner.budgeting.budget import Budget, budget_for, in_order
from tuner.device.keeper import Facts
from tuner.device.machine import cautions_of
from tuner.device.session import Session
from tuner.new_run import default_arms, stage_of
from tuner.rounds.lent import Lend, nobody


@dataclass(frozen=True)
class Job:
    """One run on one machine, stored as ``run_id``. ``arms`` in the order of their probes; ``default`` names the engine's own
    pick, by phase; ``labels`` are cautions for every round of it; ``everyone``: no arm leaves the race; ``choices``
    (problem, choice): how libraries that choose by timing are to choose. ``board``: UUID of the device. ``lend``: other boards for its
    rounds, as long as that context is open. ``staying``: names of the cells that the next process measures; None = all."""

    scenario: Scenario
    store: Store
    run_id: str
    session: Session
    stage: StageSpec
    arms: tuple[Arm, ...]
    cells: tuple[WeightedCell, ...]
    exclusions: tuple[Exclusion, ...] = ()
    labels: tuple[str, ...] = ()
    default: Mapping[Phase, str] = field(default_factory=dict)
    budget: Budget = field(default_factory=Budget)
    everyone: bool = False
    choices: tuple[tuple[str, str], ...] = ()
    board: str | None = None
    lend: Lend = nobody
    staying: Callable[[Run], Collection[str]] | None = None

    def question(self, do: str, cells: tuple[Cell, ...], **fields: Any) -> dict[str, Any]:
        """A message that carries the stage, the timing and ``cells``."""
        return {**self.unstaged(do, cells, **fields), "stage": to_plain(self.session.staged(self.stage))}

    def unstaged(self, do: str, cells: tuple[Cell, ...], **fields: Any) -> dict[str, Any]:
        """The same without the stage, of which another session may tell its processes something else."""
        return {
            "do": do,
            "cells": to_plain(cells),
            "timing": to_plain(self.scenario.measure.timing),
            "choices": to_plain(self.choices),
            **{key: to_plain(value) for key, value in fields.items()},
        }

    def keep_trials(self, trials: Sequence[Trial]) -> None:
        add_trials(self.store, self.run_id, trials, self.session.clock.take())

    def keep_round(self, measured: Round) -> None:
        labelled = replace(measured, labels=(*measured.labels, *self.labels))
        add_round(self.store, self.run_id, labelled, self.session.clock.take())

    def book_time(self) -> None:
        """Store where the wall time went since it was stored last, with a trial, a round or alone: a run that is killed keeps what it
        knows."""
        add_wall_seconds(self.store, self.run_id, self.session.clock.take())

    def hear(self, event: dict[str, Any], headline: str) -> None:
        """Book the time and show the phase of a progress event; other events pass by. Once a process is at work, the next ones
        may begin their imports."""
        if event["event"] != "progress" or self.session.awaits_others(event):
            return
        self.session.import_ahead()
        self.session.clock.enter(event["phase"])
        where = (str(event[key]) for key in ("arm", "cell") if event.get(key) and str(event[key]) not in headline)
        self.session.progress.phase(headline, " ".join((event["phase"], *where)))


def job_of(run: Run, plan: Plan, store: Store, session: Session, facts: Facts, budget_s: float | None) -> Job:
    """What is to be done for ``run`` of ``plan``, beside those whom ``facts`` saw on the device."""
    default = default_arms(run.default, run.arms)
    return Job(
        *(run.scenario, store, run.id, session, stage_of(plan)),
        arms=in_order(run.arms, default.values(), plan.eager, run.scenario.measure.backends),
        cells=run.cells,
        exclusions=run.exclusions,
        labels=cautions_of(facts),
        default=default,
        budget=budget_for(run, budget_s),
        board=run.environment.board.uuid,
    )
