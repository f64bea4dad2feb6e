"""After a race: its finalists once more in fresh processes, under the conditions that were asked for."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from backends.measured import CellRound, Round
from backends.outcome import Outcome
from backends.wire import from_plain
from store.revisit import Condition, Revisit
from store.runs.repository import add_revisit, load_run
from tuner.arithmetic.looks import REVISITS
from tuner.budgeting.rationing import rounds_fit
from tuner.device.patience import Patience
from tuner.job import Job
from tuner.race import of_one_kind
from tuner.racing.finalists import Finals, next_finals, under
from tuner.racing.sameness import spaced_cells
from tuner.rounds.measure import refuse_disturbed
from tuner.workers.failure import WorkerFailed

Under = tuple[tuple[Condition, CellRound], ...]


def revisit(job: Job) -> None:
    """What `next_finals` asks for, as far as the budget reaches. A failure of an arm is an answer; raises `MeasurementInvalid` as
    `tuner.race.race`."""
    patience = Patience("measuring the finalists once more")
    while (coming := next_finals(load_run(job.store, job.run_id))) and rounds_fit(job, coming.arms, 1):
        job.session.expect((coming.arms,) * (REVISITS - coming.index - 1), others=True)
        try:
            found = _measured(job, coming)
        except WorkerFailed as failure:
            job.session.progress.note(f"{_headline(coming)}: {failure.detail}")
            if failure.outcome is Outcome.INTERRUPTED:
                patience.bear(failure)
                continue
            found = _revisit(job, coming, failed=f"{failure.arm or 'an arm'}: {failure.outcome.value}: {failure.detail}")
        add_revisit(job.store, job.run_id, found)
        job.book_time()
        job.session.progress.step()


def _measured(job: Job, coming: Finals) -> Revisit:
    job.session.clock.enter("import")
    with job.session.worker(coming.arms, others=True) as worker:
        for event in worker.ask(_question(job, coming)):
            job.hear(event, _headline(coming))
            if event["event"] == "round":
                refuse_disturbed(job.session)
                measured = of_one_kind(load_run(job.store, job.run_id), from_plain(Round, event["round"]))
                cells = {cell.cell: cell for cell in measured.cells}
                times = tuple((condition, cells[under(coming.cell, condition).name]) for condition in coming.conditions)
                return _revisit(job, coming, times)
    raise RuntimeError("the worker ended without the finalists' times")


def _question(job: Job, coming: Finals) -> dict[str, object]:
    """The cell under each condition. What stands between two launches there is the stream, or what stands there in the race."""
    cells = {condition: under(coming.cell, condition) for condition in coming.conditions}
    sandwich = [cell.name for condition, cell in cells.items() if condition is Condition.SANDWICH]
    usual = coming.cell.name in spaced_cells(load_run(job.store, job.run_id).trials)
    spaced = tuple(cell.name for cell in cells.values() if usual or cell.name in sandwich)
    staged = replace(job, stage=replace(job.stage, streamed=tuple((name, coming.stream_bytes) for name in sandwich)))
    return staged.question("round", tuple(cells.values()), index=coming.index, seed=_seed(job, coming), arms=coming.arms, spaced=spaced)


def _revisit(job: Job, coming: Finals, times: Under = (), failed: str | None = None) -> Revisit:
    return Revisit(coming.index, _seed(job, coming), coming.cell.name, coming.stream_bytes, times, failed)


def _seed(job: Job, coming: Finals) -> int:
    return Random(f"{job.scenario.measure.seed}/finalists/{coming.index}").randrange(2**31)


def _headline(coming: Finals) -> str:
    return f"the finalists once more, process {coming.index + 1} of {REVISITS}"
