"""`attnpin tune` over many scenarios: each on its own, so that none stops another; an index after each; the rest when asked again."""

from __future__ import annotations

import json
import math
import queue
import sys
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from backends.wire import from_plain
from reports import numbers
from reports import sweep as report
from store.sweeps.sweep import Ending, Entry, Sweep, read_sweep, write_sweep
from tuner.errors import OK, worst
from tuner.executors.executor import Done, Executor, Task
from tuner.new_run import command_line
from tuner.progress import Progress
from tuner.sweep.alone import alone

PAGE_SHARE = 0.02  # of the time a sweep takes, for its page


@dataclass(frozen=True)
class Scenario:
    """``wish``: its overrides, by which it is known again. ``ending``: how it ended before it could be begun; it
    has a ``task`` otherwise."""

    wish: tuple[str, ...]
    task: Task | None
    ending: Ending | None = None


@dataclass
class Course:
    """The sweep as it stands, shown and kept after every change; all calls from one thread. The page of a long sweep follows at a
    distance, since to write it after each of a thousand scenarios takes as long as they do."""

    folder: Path
    progress: Progress
    sweep: Sweep
    names: tuple[str, ...]
    page_at: float = -math.inf  # the earliest that it is written again

    def ended(self, place: int, ending: Ending, seconds: float | None = None) -> None:
        entries = list(self.sweep.entries)
        entries[place] = replace(entries[place], ending=ending, seconds=seconds)
        self.sweep = replace(self.sweep, entries=tuple(entries))
        self.keep(page=time.monotonic() >= self.page_at)
        self.progress.step()
        after = "" if seconds is None else f" after {numbers.seconds(seconds)}"
        self.progress.note(f"{self.names[place]}: {report.result(ending)}{after}")

    def keep(self, page: bool = True) -> None:
        began = time.monotonic()
        write_sweep(self.folder, self.sweep, [(report.PAGE, report.render_html(self.sweep, self.folder))] if page else [])
        if page:
            self.page_at = began + (time.monotonic() - began) / PAGE_SHARE


def run_sweep(scenarios: Sequence[Scenario], executor: Executor, folder: Path, fresh: bool, as_json: bool) -> int:
    """Goes on with an unfinished sweep over the same scenarios in ``folder``, unless ``fresh``.

    Returns the gravest exit code. Raises KeyboardInterrupt once all that ran have ended.
    """
    with Progress() as progress, alone(folder, progress):
        wishes = [each.wish for each in scenarios]
        course = Course(folder, progress, begun(folder, wishes, fresh), report.names(wishes))
        course.keep()
        for place, each in enumerate(scenarios):
            if each.ending is not None:
                course.ended(place, each.ending)
        there = sum(entry.settled for entry in course.sweep.entries)
        progress.total(len(scenarios), done=sum(entry.ending is not None for entry in course.sweep.entries))
        if there:
            progress.note(
                f"{there} of {len(scenarios)} scenarios were done in the sweep of {course.sweep.begun}; --fresh measures them again"
            )
        _work_off(course, [each for each, entry in zip(scenarios, course.sweep.entries) if not entry.settled], executor)
        course.keep()
    sys.stdout.write(report.render_json(course.sweep) if as_json else report.render(course.sweep, folder))
    return worst(entry.ending.exit_code if entry.ending else OK for entry in course.sweep.entries)


def begun(folder: Path, asked: Sequence[tuple[str, ...]], fresh: bool) -> Sweep:
    """The unfinished sweep over the same scenarios in ``folder`` with what it has, else a new one."""
    known = None if fresh else read_sweep(folder)
    if known is not None and not known.settled and [entry.overrides for entry in known.entries] == list(asked):
        return replace(known, entries=tuple(entry if entry.settled else Entry(entry.overrides) for entry in known.entries))
    return Sweep(command_line("tune"), datetime.now(UTC).isoformat(timespec="seconds"), tuple(Entry(wish) for wish in asked))


def _work_off(course: Course, scenarios: Sequence[Scenario], executor: Executor) -> None:
    """As many at a time as the executor has places. Ctrl-C reaches each."""
    places: queue.SimpleQueue[int] = queue.SimpleQueue()
    for place in range(executor.places):
        places.put(place)
    tasks = [each.task for each in scenarios if each.task is not None]
    with ThreadPoolExecutor(executor.places) as pool:
        running: dict[Future[tuple[Ending, float | None]], Task] = {}
        try:
            for task in tasks:
                running[pool.submit(_one, course, task, executor, places)] = task
            _gather(course, running)
        except BaseException:  # Ctrl-C, a full disk under the index: what runs is ended in order
            for future in running:
                future.cancel()
            executor.interrupt()
            _keep(course, running)
            raise


def _gather(course: Course, running: dict[Future[tuple[Ending, float | None]], Task]) -> None:
    left = set(running)
    while left:
        done, left = wait(left, timeout=0.5, return_when="FIRST_COMPLETED")
        for future in done:
            course.ended(running[future].number - 1, *future.result())


def _keep(course: Course, running: dict[Future[tuple[Ending, float | None]], Task]) -> None:
    """What came to its end while nobody listened."""
    for future, task in running.items():
        if not future.cancelled() and not course.sweep.entries[task.number - 1].settled:
            ending, seconds = future.result()
            if ending.settled:
                course.ended(task.number - 1, ending, seconds)
    course.keep()


def _one(course: Course, task: Task, executor: Executor, places: queue.SimpleQueue[int]) -> tuple[Ending, float | None]:
    """How it ended, and after how long where it ran meanwhile."""
    place, began = places.get(), time.monotonic()
    headline = f"{task.number} of {len(course.sweep.entries)}, {task.name}"
    try:
        more = (f"executor.since='{course.sweep.begun}'", *(["executor.spread=true"] if len(course.sweep.entries) == 1 else []))
        of_this_sweep = replace(task, overrides=(*task.overrides, *more))
        done = executor.run(of_this_sweep, place, lambda line: course.progress.phase(headline, line))
    except Exception as error:  # of this one alone: the others still run
        done = Done(getattr(error, "exit_code", 70), None, str(error))
    finally:
        places.put(place)
    return ending_of(done), time.monotonic() - began if done.ran else None


def ending_of(done: Done) -> Ending:
    """What the job said of itself; of one that came to no decision, what it said last."""
    if done.line is not None:
        return replace(from_plain(Ending, json.loads(done.line)), exit_code=done.exit_code)
    return Ending(done.exit_code, done.last or "it said nothing")
