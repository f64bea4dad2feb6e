"""What of the steps of a plan is not attention, as this board does it: from the store, and measured where that is wished and not there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from backends.environment import Environment
from backends.spec import TimingSpec
from backends.step.shape import RestTimes, StepShape
from backends.wire import from_plain
from store.boards.rests import rests_for, save_rest
from store.database.connect import Store
from store.plan import Plan
from store.runs.run import PROTOCOL_VERSION
from tuner.device.asking import answers
from tuner.device.session import Session
from tuner.new_run import stage_of
from tuner.step_model.shape import shape_of, why_no_shape
from tuner.workers.failure import WorkerFailed
from tuner.workload.ranks import ranks_of


def measured_rests(session: Session, store: Store, plan: Plan, environment: Environment) -> tuple[RestTimes, ...]:
    """Of every cell that counts. What cannot be measured stays predicted, which is said."""
    shapes, wished = shapes_of(plan), plan.scenario.measure.rest
    if wished and (why := why_no_shape(plan.scenario.model)):
        session.progress.note(f"the rest of a step stays predicted: {why}")
    known = rests_for(store, environment, PROTOCOL_VERSION, shapes, datetime.now(UTC))
    missing = [shape for shape in shapes if shape not in {found.shape for found in known}]
    if not (wished and missing):
        return known
    return (*known, *_measured(session, store, plan, environment, missing))


def shapes_of(plan: Plan) -> tuple[StepShape, ...]:
    """Each once, the largest first: what does not fit shows at once."""
    model, ranks = plan.scenario.model, ranks_of(plan.scenario.engine)
    found = (shape_of(model, ranks, weighted.cell) for weighted in plan.cells if not weighted.is_guard)
    return tuple(sorted({shape for shape in found if shape is not None}, key=lambda shape: (-shape.rows, -shape.logit_rows)))


def _measured(session: Session, store: Store, plan: Plan, environment: Environment, shapes: Iterable[StepShape]) -> Iterator[RestTimes]:
    """In one process. Where it fails, what is left stays predicted."""
    session.clock.enter("import")
    try:
        for found in _asked(session, plan, plan.scenario.measure.timing, tuple(shapes)):
            if found.why_none is not None:
                session.progress.note(f"the rest of a step of {found.shape.rows} tokens stays predicted: {found.why_none}")
                continue
            save_rest(store, environment, PROTOCOL_VERSION, found, datetime.now(UTC))
            yield found
    except WorkerFailed as failure:
        session.progress.note(f"the rest of some steps stays predicted, its process ended: {failure.detail}")


def _asked(session: Session, plan: Plan, timing: TimingSpec, shapes: tuple[StepShape, ...]) -> Iterator[RestTimes]:
    question = {"do": "rest_times", "stage": session.staged(stage_of(plan)), "timing": timing, "shapes": shapes}
    for event in answers(session, question, "rest_times", "the rest of a step"):
        yield from_plain(RestTimes, event["rest_times"])
