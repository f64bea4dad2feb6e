"""The screen: one worker that keeps its pools and its baseline, asked for one repetition of one setting after another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from types import TracebackType

from backends.arm import Arm
from backends.cell import Phase
from backends.outcome import Outcome
from backends.screen import Step
from backends.spec import StageSpec
from backends.wire import from_plain, to_plain
from store.scenario import Scenario, WeightedCell
from store.search import Fate, Setting
from tuner.device.patience import Patience
from tuner.device.session import Session
from tuner.search.study import Attempt, PhaseStudy
from tuner.workers.events import Event
from tuner.workers.failure import WorkerFailed
from tuner.workers.process import Worker

MOST_HUNG = 2  # settings of a backend in a phase, of which each costs the patience with it


class NothingBeside(Exception):
    """The default itself fails, so that no setting can be held against it; the text says how."""


class Screen:
    """``baselines``: the default's arm in each phase. A context; its process is started when it is needed, and anew after a failure."""

    def __init__(
        self,
        session: Session,
        scenario: Scenario,
        stage: StageSpec,
        cells: Sequence[WeightedCell],
        baselines: Mapping[Phase, Arm],
        settings: Sequence[Setting],
    ) -> None:
        self._session = session
        self._scenario = scenario
        self._stage = stage
        self._cells = tuple(cells)
        self._baselines = dict(baselines)
        self._arms = tuple(dict.fromkeys(setting.arm for setting in settings))
        self._worker: Worker | None = None
        self._events: Iterator[Event] | None = None
        self._patience = Patience("the screen")
        self._hung: Counter[tuple[Phase, str]] = Counter()
        self.processes = 0

    def __enter__(self) -> Screen:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._end()

    def tried(self, study: PhaseStudy, attempt: Attempt, steps: int) -> None:
        """Repeat ``attempt`` up to ``steps`` times, or until its study gives it up. A failure of the arm is its own end; one of a backend
        whose settings hang is not tried.

        Raises `NothingBeside`, and `MeasurementInvalid` when it breaks off again and again without an arm to blame.
        """
        ratios, seconds, family = list[float](), 0.0, (study.phase, attempt.setting.arm.backend)
        if self._hung[family] >= MOST_HUNG:
            return _leave_out(study, attempt)
        while len(ratios) < steps:
            try:
                step = self._step(attempt.setting.arm, study.phase)
            except WorkerFailed as failure:
                self._end()
                self._refuse_without_default(failure)
                if failure.arm != attempt.setting.arm.name or failure.outcome is Outcome.INTERRUPTED:
                    self._patience.bear(failure)
                    continue
                self._hung[family] += failure.outcome is Outcome.TIMED_OUT
                study.end(attempt, Fate.FAILED, fmean(ratios) if ratios else None, seconds, f"{failure.outcome.value}: {failure.detail}")
                return
            ratios.append(self._ratio(step))
            seconds += step.seconds
            if study.report(attempt, len(ratios) - 1, ratios[-1]) and len(ratios) < steps:
                study.end(attempt, Fate.PRUNED, fmean(ratios), seconds)
                return
        study.end(attempt, Fate.FINISHED, fmean(ratios), seconds)

    def _refuse_without_default(self, failure: WorkerFailed) -> None:
        if failure.outcome is not Outcome.INTERRUPTED and failure.arm in {arm.name for arm in self._baselines.values()}:
            raise NothingBeside(f"{failure.arm}{f' on {failure.cell}' if failure.cell else ''}: {failure.detail}") from failure

    def _ratio(self, step: Step) -> float:
        """Attention's time of the setting by the default's, over the phase's cells as traffic weighs them."""
        weights = {each.cell.name: each.layers * each.calls_per_1000_tokens for each in self._cells}
        mine = sum(weights[cell] * us for cell, us, _ in step.us)
        return mine / sum(weights[cell] * us for cell, _, us in step.us)

    def _step(self, arm: Arm, phase: Phase) -> Step:
        worker, events = self._open()
        worker.tell({"arm": arm.name, "phase": phase.value})
        step = from_plain(Step, self._heard(events, "step")["step"])
        self._heard(events, "ready")
        return step

    def _heard(self, events: Iterator[Event], wanted: str) -> Event:
        for event in events:
            if event["event"] == wanted:
                return event
            if event["event"] == "progress" and not self._session.awaits_others(event):
                self._session.clock.enter("screen")
                where = (str(event[key]) for key in ("phase", "arm", "cell") if event.get(key))
                self._session.progress.phase("screening settings", " ".join(where))
        raise RuntimeError(f"the worker ended its screen without {wanted!r}")

    def _open(self) -> tuple[Worker, Iterator[Event]]:
        if self._worker is None or self._events is None:
            self._session.clock.enter("screen")
            self._worker = self._session.worker((*self._baselines.values(), *self._arms), others=True).__enter__()
            self.processes += 1
            self._events = self._worker.ask(self._question())
            self._heard(self._events, "ready")
        return self._worker, self._events

    def _question(self) -> dict[str, object]:
        cells = tuple(each.cell for each in self._cells)
        return {
            "do": "screen",
            "baselines": {phase.value: to_plain(arm) for phase, arm in self._baselines.items()},
            "arms": to_plain(self._arms),
            "cells": to_plain(cells),
            "stage": to_plain(self._session.staged(self._stage)),
            "timing": to_plain(self._scenario.measure.timing),
        }

    def _end(self) -> None:
        if self._worker is not None:
            self._worker.kill()
        self._worker = self._events = None


def _leave_out(study: PhaseStudy, attempt: Attempt) -> None:
    """One of a backend of whose settings enough hung."""
    why = f"not tried: {MOST_HUNG} settings of {attempt.setting.arm.backend} timed out in {study.phase.value}"
    study.end(attempt, Fate.FAILED, None, 0.0, why)
