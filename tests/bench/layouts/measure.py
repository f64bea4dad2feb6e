"""Measures what is missing of the layout table, in fresh processes of the product's own worker."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

from backends.arm import Arm
from backends.environment import Environment
from backends.measured import CellRound
from backends.outcome import Outcome
from backends.wire import from_plain
from tests.bench.layouts.rows import Row, read_rows, write_rows
from tests.bench.layouts.sitting import GEOMETRIES, Sitting, settings_of, sitting_of
from tuner.clock import PhaseClock
from tuner.device.host import Host
from tuner.device.machine import device_key, settings_on
from tuner.device.patience import Patience
from tuner.device.session import Session
from tuner.device.waiting import Wait, take_device
from tuner.device.worker_code import worker_code
from tuner.limiting.drivers import imports_of
from tuner.progress import Progress
from tuner.workers.failure import WorkerFailed

OWNER = "attnpin layouts"
Listed = Mapping[str, Any]  # arm, cell, kernels


@dataclass(frozen=True)
class Turn:
    """One fresh process of one geometry, and what of it is not there yet."""

    sitting: Sitting
    process: int


def measure(file: Path, processes: int, overrides: Sequence[str]) -> None:
    """Adds rows to ``file`` as cells are done; what it holds already is not measured again.

    ``overrides`` as `attnpin tune` takes them: where the engine is found, which GPU.
    """
    settings = {geometry: settings_of(geometry, overrides) for geometry in GEOMETRIES}
    any_of = next(iter(settings.values()))
    host = Host(any_of.scenario.engine, worker_code(any_of), any_of.world)
    with Progress() as progress, Session(host, progress, PhaseClock(), ahead=True) as session:
        environment = session.keeper.facts(("sglang", "torch", "triton", *imports_of(any_of.entries))).environment
        take_device(session, device_key(environment.board), OWNER, Wait(any_of.wait_for_gpu_s))
        sittings = [sitting_of(name, settings_on(each, environment), environment.releases) for name, each in settings.items()]
        take(session, list(missing(read_rows(file), sittings, processes)), environment, file)


def take(session: Session, turns: Sequence[Turn], environment: Environment, file: Path) -> None:
    """Each turn in a process of its own, the next ones importing beside it."""
    session.progress.total(len(turns))
    for number, turn in enumerate(turns, 1):
        session.expect([after.sitting.arms for after in turns[number:]])
        _take(session, turn, environment, file)
        session.progress.step()


def missing(rows: Sequence[Row], sittings: Sequence[Sitting], processes: int) -> Iterator[Turn]:
    """Every geometry once before any of them a second time."""
    there = {(row.geometry, row.process, row.cell.name) for row in rows}
    for process in range(processes):
        for sitting in sittings:
            cells = tuple(cell for cell in sitting.cells if (sitting.geometry, process, cell.name) not in there)
            if cells:
                yield Turn(replace(sitting, cells=cells), process)


def _take(session: Session, turn: Turn, environment: Environment, file: Path) -> None:
    """An arm that fails is left out of this process, which is begun again for the cells it still lacks."""
    patience, sitting = Patience(_named(turn)), turn.sitting
    while sitting.cells and sitting.arms:
        turn = replace(turn, sitting=sitting)
        try:
            for timed in _timed(session, turn):
                if not isinstance(timed, CellRound):
                    write_rows(with_kernels(read_rows(file), turn, timed), file)
                    continue
                write_rows((*read_rows(file), _row(turn, environment, timed)), file)
                sitting = replace(sitting, cells=tuple(cell for cell in sitting.cells if cell.name != timed.cell))
        except WorkerFailed as failure:
            session.progress.note(str(failure))
            if failure.outcome is Outcome.INTERRUPTED or failure.arm is None:
                patience.bear(failure)
            else:
                sitting = replace(sitting, arms=tuple(arm for arm in sitting.arms if arm.name != failure.arm))


def with_kernels(rows: Sequence[Row], turn: Turn, listed: Listed) -> tuple[Row, ...]:
    """``rows`` with what an arm of this turn launches on a cell."""
    place = (turn.sitting.geometry, turn.process, listed["cell"])
    added = (str(listed["arm"]), tuple(listed["kernels"]))
    return tuple(
        replace(row, kernels=(*row.kernels, added)) if (row.geometry, row.process, row.cell.name) == place else row for row in rows
    )


def _timed(session: Session, turn: Turn) -> Iterator[CellRound | Listed]:
    """Cells as they are done, and then what was listed of them."""
    session.clock.enter("import")
    with session.worker(turn.sitting.arms) as worker:
        for event in worker.ask(_question(session, turn)):
            if event["event"] == "progress" and not session.awaits_others(event):
                _hear(session, turn, event["phase"], event.get("cell"))
            if event["event"] == "cell_round":
                yield from_plain(CellRound, event["cell_round"])
        if turn.sitting.listing is not None:
            listing = {**_question(session, turn), "do": "call", "function": turn.sitting.listing}
            yield from (event["result"] for event in worker.ask(listing) if event["event"] == "result")
    if session.was_disturbed():
        session.progress.note(f"{_named(turn)}: imports beside it opened a context on the device; measure again, into another file")


def _question(session: Session, turn: Turn) -> dict[str, object]:
    sitting, seed = turn.sitting, Random(f"{turn.sitting.geometry}/{turn.process}").randrange(2**31)
    asked = {"cells": sitting.cells, "arms": sitting.arms, "stage": session.staged(sitting.stage), "timing": sitting.timing}
    return {"do": "round", "index": turn.process, "seed": seed, **asked}


def _hear(session: Session, turn: Turn, phase: str, cell: str | None) -> None:
    session.import_ahead()
    session.progress.phase(_named(turn), " ".join(filter(None, (phase, cell))))


def _named(turn: Turn) -> str:
    return f"{turn.sitting.geometry}, process {turn.process + 1}"


def _row(turn: Turn, environment: Environment, timed: CellRound) -> Row:
    cell = next(cell for cell in turn.sitting.cells if cell.name == timed.cell)
    return Row(
        geometry=turn.sitting.geometry,
        process=turn.process,
        board=environment.board.name,
        driver=environment.board.driver,
        versions=_versions(turn.sitting.arms, environment),
        arms=turn.sitting.arms,
        cell=cell,
        timed=timed,
    )


def _versions(arms: Sequence[Arm], environment: Environment) -> tuple[tuple[str, str], ...]:
    names = dict.fromkeys(("torch", *(package for arm in arms for package in arm.packages)))
    return tuple((name, version) for name in names if (version := environment.releases.get(name)))
