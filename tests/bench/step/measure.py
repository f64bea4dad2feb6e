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
from backends.cell import Phase
from backends.environment import Environment
from backends.measured import CellRound
from backends.wire import from_plain
from store.database.connect import open_store
from tests.bench import row_file
from tests.bench.step.agenda import ENGINE, REST, ROUND, STREAMED, Task, needed_s, next_task
from tests.bench.step.cells import ARMS, REQUEST, Ground, ground_of
from tests.bench.step.engine import LIMIT_S, EngineFailed, run_engine, run_turns
from tests.bench.step.rows import Call, Row, read_rows
from tuner.clock import PhaseClock
from tuner.device.host import Host
from tuner.device.machine import device_key, meet
from tuner.device.measured_rests import measured_rests
from tuner.device.session import Session
from tuner.device.waiting import Wait, take_device
from tuner.device.worker_code import worker_code
from tuner.new_run import stage_of
from tuner.plan import plan_of
from tuner.progress import Progress
from tuner.settings import Settings, compose
from tuner.step_model.shape import shape_of
from tuner.workers.failure import WorkerFailed
from tuner.workload.ranks import ranks_of

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
    deadline: float  # of `time.monotonic`

    @property
    def limit_s(self) -> float:
        """Of a process of the engine; what it has by then is kept."""
        return max(min(LIMIT_S, self.deadline - time.monotonic()), 1.0)


def measure(file: Path, until_s: float, overrides: Sequence[str], only: Collection[str] = ()) -> None:
    """Adds rows to ``file``. No process begins that would bring nothing in ``until_s``; ``overrides`` as of `attnpin tune`, ``only`` as for
    `next_task`."""
    deadline = time.monotonic() + until_s
    settings = compose([*REQUEST, *overrides])
    host, clock = Host(settings.scenario.engine, worker_code(settings), settings.world), PhaseClock()
    with Progress() as progress, Session(host, progress, clock) as session:
        settings, environment = meet(session, settings)
        take_device(session, device_key(environment.board), OWNER, Wait(settings.wait_for_gpu_s))
        ground = ground_of(plan_of(settings.scenario, settings.entries, environment.releases))
        place = Place(session, settings, environment, ground, _sitting(file), deadline)
        while task := next_task(read_rows(file), only):
            if time.monotonic() + needed_s(read_rows(file), task) > deadline:
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
        return replace(empty, steps=run_engine(task.arm, place.settings.scenario.engine, place.limit_s))
    if task.kind == REST:
        rests = measured_rests(place.session, open_store(place.settings.store_url), place.ground.plan, place.environment)
        return replace(empty, rests=rests) if rests else replace(empty, failed="the rest of no step could be measured")
    if task.kind in (ROUND, STREAMED):
        calls, lacks = _round(place, task)
        return replace(empty, calls=calls, lacks=lacks, failed=None if calls else "; ".join(lacks))
    turns, lacks = run_turns(ARMS, place.settings.scenario.engine, place.limit_s)
    return replace(empty, turns=turns, lacks=lacks)


def _round(place: Place, task: Task) -> tuple[tuple[Call, ...], tuple[str, ...]]:
    """Once more without an arm that fails, on the cells that it left undone."""
    seed, done, lacks = Random(f"step/{task.index}").randrange(2**31), list[Call](), list[str]()
    between = _weights(place.ground) if task.kind == STREAMED else {}
    arms, cells = dict(place.ground.arms), tuple(cell for cell in place.ground.cells if not between or cell.name in between)
    while arms and cells:
        question = {
            "do": "round",
            "index": task.index,
            "seed": seed,
            "cells": cells,
            "arms": tuple(arms.values()),
            "spaced": tuple(between),
        }
        try:
            for event in _asked(place, tuple(arms.values()), question, tuple(between.items())):
                done += _calls(event, arms)
            return tuple(done), tuple(lacks)
        except WorkerFailed as failure:
            if (blamed := _backend(failure.arm, arms)) is None:
                raise
            del arms[blamed]
            lacks.append(f"{blamed} on {failure.cell or 'any cell'}: {failure.detail}"[:SAID])
            cells = tuple(cell for cell in cells if cell.name not in {call.cell for call in done})
    return tuple(done), tuple(lacks)


def _weights(ground: Ground) -> dict[str, int]:
    """Bytes that a layer's other kernels read between two calls of attention, of each decode cell."""
    scenario = ground.plan.scenario
    shapes = {cell.name: shape_of(scenario.model, ranks_of(scenario.engine), cell) for cell in ground.cells if cell.phase is Phase.DECODE}
    return {name: shape.layer_bytes(shape.layers[0]) for name, shape in shapes.items() if shape is not None}


def _calls(event: dict[str, Any], arms: dict[str, Arm]) -> Iterator[Call]:
    if event["event"] != "cell_round":
        return
    timed = from_plain(CellRound, event["cell_round"])
    metadata = {name: idle for name, _, idle in timed.metadata_us}
    for backend, arm in arms.items():
        visits = tuple(round(median(visit.sample_us), 3) for visit in timed.visits if visit.arm == arm.name)
        if visits:
            yield Call(timed.cell, backend, visits, round(metadata[arm.name], 3) if arm.name in metadata else None)


def _backend(name: str | None, arms: dict[str, Arm]) -> str | None:
    return next((backend for backend, arm in arms.items() if arm.name == name), None)


def _asked(
    place: Place, arms: tuple[Arm, ...], question: dict[str, Any], streamed: tuple[tuple[str, int], ...]
) -> Iterator[dict[str, Any]]:
    stage = place.session.staged(replace(stage_of(place.ground.plan), streamed=streamed))
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
