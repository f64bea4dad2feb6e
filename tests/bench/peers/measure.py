"""Measures what is missing, process by process, until nothing is or the time is up."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from backends.environment import Environment
from backends.spec import TimingSpec
from tests.bench import row_file
from tests.bench.peers import oracle, ours
from tests.bench.peers.agenda import Task, next_task
from tests.bench.peers.cells import Ground, block_of, ground_of, group_of, settings_of
from tests.bench.peers.heard import Heard
from tests.bench.peers.rows import Row, read_rows
from tuner.clock import PhaseClock
from tuner.device.host import Host
from tuner.device.machine import device_key, settings_on
from tuner.device.session import MOST_AHEAD, Session
from tuner.device.waiting import Wait, take_device
from tuner.limiting.drivers import imports_of
from tuner.progress import Progress
from tuner.workers.bundle import bundle
from tuner.workers.failure import WorkerFailed

OWNER = "attnpin peers"
CONTEST = Path(__file__).with_name("contest")
ROUNDS = (oracle.KIND, ours.KIND)
SIMULATED = ("drawn",)  # instead of the tools, none of which can time what is not there
START_S, CELL_S = 30.0, 4.0  # of a kind of process that was not seen yet
SAID = 300  # characters of a failure


def measure(file: Path, group: str, until_s: float, overrides: Sequence[str], only: Collection[str] = ()) -> None:
    """Adds rows of ``group`` to ``file``. No process begins that would not end in ``until_s``; ``overrides`` as of `attnpin tune`,
    ``only`` as for `next_task`."""
    deadline = time.monotonic() + until_s
    settings = settings_of(overrides)
    engine = settings.scenario.engine
    host = Host(engine, bundle([CONTEST]), settings.world)
    with Progress() as progress, Session(host, progress, PhaseClock(), ahead=True) as session:
        environment = session.keeper.facts((engine.name, "torch", "triton", *imports_of(settings.entries))).environment
        take_device(session, device_key(environment.board), OWNER, Wait(settings.wait_for_gpu_s))
        ground = ground_of(settings_on(settings, environment), environment.releases)
        cells = blocks_of(ground, group)
        ahead = False
        while task := next_task(_of(file, group), cells, tuple(arm.name for arm in ground.arms), only):
            if time.monotonic() + expected_s(_of(file, group), task) > deadline:
                progress.note(f"{task.kind} {task.index} of block {task.block} would not end in time")
                return
            session.expect([ground.arms] * MOST_AHEAD)
            row_file.append(taken(session, ground, group, task, environment, ahead), file)
            ahead = True


def blocks_of(ground: Ground, group: str) -> dict[int, tuple[str, ...]]:
    mine = [name for name, cell in ground.cells.items() if group_of(cell) == group]
    return {block: tuple(name for name in mine if block_of(name) == block) for block in (1, 2)}


def _of(file: Path, group: str) -> tuple[Row, ...]:
    return tuple(row for row in read_rows(file) if row.group == group)


def expected_s(rows: Iterable[Row], task: Task) -> float:
    """As long as the last of its kind, cell for cell."""
    alike = [row for row in rows if row.kind == task.kind and row.failed is None]
    if not alike:
        return START_S + CELL_S * len(task.cells)
    last = alike[-1]
    seen = len({timed.cell for timed in last.timed} | {reading.cell for reading in last.readings})
    return last.start_s + (last.wall_s - last.start_s) / max(1, seen) * len(task.cells) * task.repeats


def taken(session: Session, ground: Ground, group: str, task: Task, environment: Environment, ahead: bool) -> Row:
    """One process, or what went wrong in it. ``ahead``: it could import while another one measured."""
    begun = time.monotonic()
    seed = Random(f"{group}/{task.kind}/{task.block}/{task.index}").randrange(2**31)
    heard = Heard(session, f"{group}, {task.kind} {task.index} of block {task.block}")
    failed: WorkerFailed | None = None
    try:
        with session.worker(ground.arms) as worker:
            for event in worker.ask(question(session, ground, task, seed)):
                heard.hear(event)
    except WorkerFailed as failure:
        failed = failure
        session.progress.note(str(failure))
    ended = time.monotonic()
    return Row(
        kind=task.kind,
        group=group,
        block=task.block,
        index=task.index,
        wall_s=round(ended - begun, 3),
        start_s=round((heard.started or ended) - begun, 3),
        ahead=ahead,
        board=environment.board.name,
        versions=versions(ground, environment),
        seconds=heard.seconds,
        timed=tuple(heard.timed),
        readings=tuple(heard.readings),
        failed=str(failed)[:SAID] if failed else None,
        lost_arm=failed.arm if failed else None,
        lost_cell=failed.cell if failed else None,
    )


def question(session: Session, ground: Ground, task: Task, seed: int) -> dict[str, Any]:
    timing = oracle_timing(ground.timing) if task.kind == oracle.KIND else ground.timing
    asked: dict[str, Any] = {
        "cells": tuple(ground.cells[name] for name in task.cells),
        "arms": ground.arms,
        "stage": session.staged(ground.stage),
        "timing": timing,
        "seed": seed,
    }
    asked["skip"] = tuple((arm.name, cell) for cell, arms in task.cells.items() for arm in ground.arms if arm.name not in arms)
    if task.kind in ROUNDS:
        return {"do": "round", "index": task.index, **asked}
    function = "contest.nvbench:run" if task.kind == "nvbench" else "contest.run:run"
    tools = task.tools if asked["stage"].simulation is None else SIMULATED
    return {"do": "call", "function": function, "tools": tools, "repeats": task.repeats, **asked}


def oracle_timing(timing: TimingSpec) -> TimingSpec:
    """Its processes are many rather than long."""
    return replace(timing, blocks=2, warmup_s=0.5, warmup_cap_s=3.0)


def versions(ground: Ground, environment: Environment) -> tuple[tuple[str, str], ...]:
    """Of what the arms are driven by."""
    owners = dict(environment.imports)
    names = {owners.get(package) for arm in ground.arms for package in (*arm.packages, "torch", "triton")}
    return tuple((found.name, found.version) for found in environment.distributions if found.name in names)
