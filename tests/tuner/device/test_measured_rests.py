"""What becomes of a rest that cannot be measured: it stays predicted, which is said, and the run goes on."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from backends.outcome import Outcome
from backends.step.shape import RestTimes
from backends.wire import to_plain
from store.database.connect import Store, open_store
from store.plan import Plan
from tests.store.building import environment
from tests.tuner.composed import composed
from tuner.clock import PhaseClock
from tuner.device.measured_rests import measured_rests, shapes_of
from tuner.plan import plan_of
from tuner.workers.failure import Place, WorkerFailed

HERE = environment()


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(f"sqlite:///{tmp_path}/attnpin.db")


def plan(**model: Any) -> Plan:
    settings = composed("model=qwen3_8b", "gpu=h200", "measure.rest=true")
    found = plan_of(settings.scenario, settings.entries, None)
    return replace(found, scenario=replace(found.scenario, model=replace(found.scenario.model, **model)))


@dataclass
class Scripted:
    """A session, its progress and its worker in one: answers with ``events``, then fails if it is to."""

    events: list[dict[str, Any]]
    failure: WorkerFailed | None = None
    notes: list[str] = field(default_factory=list)
    clock: PhaseClock = field(default_factory=PhaseClock)

    @property
    def progress(self) -> Scripted:
        return self

    def note(self, text: str) -> None:
        self.notes.append(text)

    def staged(self, stage: Any) -> Any:
        return stage

    @contextlib.contextmanager
    def worker(self, arms: Any) -> Iterator[Scripted]:
        yield self

    def ask(self, question: Any) -> Iterator[dict[str, Any]]:
        yield from self.events
        if self.failure:
            raise self.failure


def measured(session: Any, store: Store, of: Plan) -> tuple[RestTimes, ...]:
    return measured_rests(session, store, of, HERE)


def event(found: RestTimes) -> dict[str, Any]:
    return {"event": "rest_times", "rest_times": to_plain(found)}


def test_each_shape_is_asked_for_once_and_none_of_cells_that_do_not_count() -> None:
    shapes = shapes_of(plan())
    counted = [weighted.cell for weighted in plan().cells if not weighted.is_guard]
    assert len(shapes) == len(set(shapes)) <= len(counted)
    assert [shape.rows for shape in shapes] == sorted((shape.rows for shape in shapes), reverse=True)


def test_what_was_measured_before_the_process_ended_is_kept(store: Store) -> None:
    first = RestTimes(shapes_of(plan())[0], "graph", (5.0,), (6.0,))
    session = Scripted([event(first)], WorkerFailed(Outcome.CRASHED, "signal 11", Place()))
    assert measured(session, store, plan()) == (first,)
    assert session.notes == ["the rest of some steps stays predicted, its process ended: signal 11"]
    assert measured(Scripted([]), store, plan()) == (first,)


def test_a_step_too_large_for_the_memory_is_said_and_not_stored(store: Store) -> None:
    session = Scripted([event(RestTimes(shapes_of(plan())[0], "graph", why_none="its weights would take too much"))])
    assert measured(session, store, plan()) == () and "stays predicted: its weights would take too much" in session.notes[0]


def test_a_model_that_torch_cannot_stand_in_for_asks_nothing(store: Store) -> None:
    session = Scripted([], WorkerFailed(Outcome.CRASHED, "never asked", Place()))
    assert measured(session, store, plan(other_layers=12)) == ()
    assert session.notes == ["the rest of a step stays predicted: 12 layers without attention have kernels of their own"]
