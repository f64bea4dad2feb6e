"""One start of one side: the server is started, heard, sent the traffic and stopped; or one batch after the other runs without a server."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from reports.serving_words import SIDES
from store.serving.serving_run import Level, ServedStart
from store.serving.verified import Start
from tuner.confirming.benchmark import benchmarked, ready_to_send, refuse_ended, results, send
from tuner.confirming.hearing import fault_of, heard
from tuner.confirming.process import Program
from tuner.confirming.question import Question
from tuner.confirming.server import at, place_for, until_ready
from tuner.confirming.sides import arguments_of
from tuner.confirming.tail import Note
from tuner.engines.benchmarks import Bench, Row, Told
from tuner.engines.lookup import benchmarks_of
from tuner.logs.files import raw_lines
from tuner.logs.lines import lines
from tuner.verifying.expected import Expected

SECRET = re.compile(r"key|password|secret")  # in the name of an argument


@dataclass(frozen=True)
class Bed:
    """What every start has in common. ``rows`` of each pass are sent; ``python`` starts the engine's; ``within_s``: how long a server is
    waited for."""

    question: Question
    rows: tuple[tuple[Row, ...], ...]
    expected: Expected
    python: tuple[str, ...]
    within_s: float
    folder: Path
    note: Note


@dataclass(frozen=True)
class Files:
    """Of one start; none of an earlier try is left."""

    server: Path
    benchmark: Path
    results: Path


def one_start(bed: Bed, number: int, block: int, pinned: bool) -> ServedStart:
    """Raises `Incomplete` for a server that does not start, `MeasurementInvalid` for a benchmark that fails."""
    files = _files(bed.folder, f"{number:02d}-{'pin' if pinned else 'other'}")
    command = bed.question.sides.started(pinned)
    if bed.question.bench is Bench.ONE_BATCH:
        return _without_server(bed, files, command, block, pinned)
    place, who, environment = place_for(command), f"the server of start {number}, {SIDES[pinned]},", bed.question.sides.environment(pinned)
    call = benchmarks_of(bed.question.engine).serving(place.url, bed.question.sent.concurrency, bed.rows, files.results)
    with (
        Program(at(command, place.port), files.server, environment) as server,
        ready_to_send(bed.python, call, files.benchmark, place.key) as benchmark,
    ):
        refuse = partial(refuse_ended, benchmark, call, files.benchmark, bed.note)
        ready_s = until_ready(server, place, bed.within_s, who, files.server, bed.note, meanwhile=refuse)
        start = heard(files.server, place, bed.question.engine)
        fault = fault_of(start, bed.expected, silent=False) if pinned else None
        if fault is None:  # else there is nothing to compare
            send(benchmark, call, files.benchmark, bed.note, server)
        if benchmarks_of(bed.question.engine).ENDS_SLOWLY:
            server.end_at_once(place.port)
    levels = () if fault else _levels(bed.question, files.results)
    return _record(start, _told(files.server, bed.question.engine), block, pinned, ready_s, fault, levels)


def _without_server(bed: Bed, files: Files, command: Sequence[str], block: int, pinned: bool) -> ServedStart:
    benchmarks, sent = benchmarks_of(bed.question.engine), bed.question.sent
    call = benchmarks.one_batch(arguments_of(command, benchmarks), sent.concurrency, sent.prompt_tokens, sent.output_tokens, files.results)
    benchmarked(bed.python, call, files.benchmark, bed.note, environment=bed.question.sides.environment(pinned))
    start = heard(files.benchmark, None, bed.question.engine)
    fault = fault_of(start, bed.expected, silent=True) if pinned else None
    levels = _levels(bed.question, files.results)
    return _record(start, _told(files.benchmark, bed.question.engine), block, pinned, 0.0, fault, levels)


def _files(folder: Path, name: str) -> Files:
    files = Files(folder / f"{name}.server.log", folder / f"{name}.bench.log", folder / f"{name}.jsonl")
    for file in (files.server, files.benchmark, files.results):
        file.unlink(missing_ok=True)
    return files


def _told(log: Path, engine: str) -> Told:
    benchmarks = benchmarks_of(engine)
    return benchmarks.told(lines(raw_lines(str(log), rotated=False), str(log), benchmarks.WORDS))


def _levels(question: Question, file: Path) -> tuple[Level, ...]:
    sent, benchmarks = question.sent, benchmarks_of(question.engine)
    found = results(file, len(sent.concurrency), sent.benchmark)
    return tuple(benchmarks.level(*each) for each in zip(sent.concurrency, sent.requests, found, strict=True))


def _record(
    start: Start, told: Told, block: int, pinned: bool, ready_s: float, fault: str | None, levels: tuple[Level, ...]
) -> ServedStart:
    return ServedStart(
        block=block,
        pinned=pinned,
        ready_s=ready_s,
        serves=tuple((what, found.value) for what, found in start.settings),
        fault=fault,
        graphs=start.graphs.on,
        graph_sizes=start.graphs.sizes,
        pool_tokens=told.pool_tokens,
        version=start.version,
        levels=levels,
        settings=tuple((name, value) for name, value in told.settings if not SECRET.search(name)),
    )
