"""Measures what is missing, process by process, until nothing is or the time is up."""

from __future__ import annotations

import secrets
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

from backends.arm import Arm
from backends.cell import Cell
from backends.environment import Environment
from backends.measured import CellRound, Trial
from backends.wire import from_plain
from store.database.connect import open_store
from tests.bench import row_file
from tests.bench.step.agenda import ENGINE, REST, ROUND, Task, expected_s, next_task
from tests.bench.step.cells import REQUEST, Ground, ground_of
from tests.bench.step.engine import EngineFailed, run_engine
from tests.bench.step.rows import Call, Row, read_rows
from tuner.clock import PhaseClock
from tuner.machine import device_key, meet
from tuner.measured_rests import measured_rests
from tuner.new_run import stage_of
from tuner.plan import plan_of
from tuner.progress import Progress
from tuner.session import Session
from tuner.settings import Settings, compose
from tuner.waiting import Wait, take_device
from tuner.worker_code import worker_code
from tuner.workers.failure import WorkerFailed

OWNER = "attnpin step"
VERSIONS = ("sglang", "sglang-kernel", "flashinfer-python", "flash-attn-4", "torch", "triton")
SAID = 400


@dataclass(frozen=True)
class Place:
    """Where all is measured."""

    session: Session
    settings: Settings
    environment: Environment
    ground: Ground
    sitting: str


def measure(file: Path, until_s: float, overrides: Sequence[str], only: Collection[str] = ()) -> None:
    """Adds rows to ``file``. No process begins that would not end in ``until_s``; ``overrides`` as of `attnpin tune`, ``only`` as for
    `next_task`."""
    deadline = time.monotonic() + until_s
    settings = compose([*REQUEST, *overrides])
    code, clock = worker_code(settings), PhaseClock()
    with Progress() as progress, Session(settings.scenario.engine, progress, clock, code, ahead=False, world=settings.world) as session:
        settings, environment = meet(session, settings)
        take_device(session, device_key(environment.board), OWNER, Wait(settings.wait_for_gpu_s))
        ground = ground_of(plan_of(settings.scenario, settings.entries, environment.releases))
        place = Place(session, settings, environment, ground, _sitting(file))
        while task := next_task(read_rows(file), only):
            if time.monotonic() + expected_s(read_rows(file), task) > deadline:
                progress.note(f"{task.kind} {task.index} {task.arm or ''} would not end in time".replace("  ", " "))
                return
            row_file.append(taken(place, task), file)


def taken(place: Place, task: Task) -> Row:
    """One process, or what went wrong in it."""
    begun = time.monotonic()
    place.session.progress.phase(f"{task.kind} {task.index}", task.arm or "")
    empty = Row(task.kind, task.index, task.arm, place.sitting, place.environment.board.name, _versions(place.environment), 0.0)
    try:
        row = _measured(place, task, empty)
    except (WorkerFailed, EngineFailed) as failure:
        place.session.progress.note(f"{task.kind} {task.index} {task.arm or ''}: {failure}")
        row = replace(empty, failed=str(failure)[:SAID])
    return replace(row, wall_s=round(time.monotonic() - begun, 3))


def _measured(place: Place, task: Task, empty: Row) -> Row:
    if task.kind == ENGINE:
        assert task.arm is not None
        return replace(empty, steps=run_engine(task.arm, place.settings.scenario.engine))
    if task.kind == REST:
        rests = measured_rests(place.session, open_store(place.settings.store_url), place.ground.plan, place.environment)
        return replace(empty, rests=rests) if rests else replace(empty, failed="the rest of no step could be measured")
    if task.kind == ROUND:
        return replace(empty, calls=tuple(_round(place, task)))
    arm = place.ground.arms.get(task.arm or "")
    return replace(empty, calls=tuple(_trials(place, arm))) if arm else replace(empty, failed=f"{task.arm} is no arm here")


def _round(place: Place, task: Task) -> Iterator[Call]:
    arms = tuple(place.ground.arms.values())
    seed = Random(f"step/{task.index}").randrange(2**31)
    for event in _asked(place, arms, {"do": "round", "index": task.index, "seed": seed, "cells": place.ground.cells, "arms": arms}):
        if event["event"] == "cell_round":
            timed = from_plain(CellRound, event["cell_round"])
            for backend, arm in place.ground.arms.items():
                visits = tuple(round(median(visit.sample_us), 3) for visit in timed.visits if visit.arm == arm.name)
                if visits:
                    yield Call(timed.cell, backend, visits)


def _trials(place: Place, arm: Arm) -> Iterator[Call]:
    cells: tuple[Cell, ...] = place.ground.cells
    for event in _asked(place, (arm,), {"do": "trial", "cells": cells, "arm": arm, "choices": ()}):
        if event["event"] == "trial" and (cost := from_plain(Trial, event["trial"]).cost) is not None:
            yield Call(event["trial"]["cell"], arm.backend, (round(cost.device_us, 3),), round(cost.metadata_idle_us, 3))


def _asked(place: Place, arms: tuple[Arm, ...], question: dict[str, Any]) -> Iterator[dict[str, Any]]:
    stage = place.session.staged(stage_of(place.ground.plan))
    with place.session.worker(arms) as worker:
        for event in worker.ask({**question, "stage": stage, "timing": place.settings.scenario.measure.timing}):
            if event["event"] == "progress" and not place.session.awaits_others(event):
                place.session.progress.phase(question["do"], " ".join(str(event[key]) for key in ("phase", "cell") if event.get(key)))
            yield event


def _sitting(file: Path) -> str:
    """One a file: what is in it was measured on one GPU."""
    return next((row.sitting for row in read_rows(file)), secrets.token_hex(4))


def _versions(environment: Environment) -> tuple[tuple[str, str], ...]:
    return tuple((found.name, found.version) for found in environment.distributions if found.name in VERSIONS)
