"""What a result stands on: board, libraries, rules, where the time went, and how to do it again."""

from __future__ import annotations

from backends.environment import Board, Environment
from reports import asked, boards, kernel_origins, numbers, wording
from reports.page import Command, Section, Table
from store.decision import Pair
from store.evidence.scrub import without_places
from store.runs.run import Run


def environment(run: Run) -> Section:
    rows = tuple((name, value) for name, value in (*_board(run.environment.board), *_software(run.environment)) if value)
    distributions = tuple((d.name, d.version, wording.digest(d.digest)) for d in run.environment.distributions)
    tables = [Table(("what", "value"), rows)]
    if distributions:
        tables.append(Table(("distribution", "version", "content hash"), distributions))
    if measured_on := boards.table(run):
        tables.append(measured_on)
    if run.environment.variables:
        tables.append(Table(("variable", "value"), run.environment.variables))
    if origins := kernel_origins.table(run):
        tables.append(origins)
    return Section("Environment", tuple(tables))


def _board(board: Board) -> tuple[tuple[str, str], ...]:
    return (
        ("board", board.name),
        ("compute capability", f"sm {board.sm}" if board.sm else ""),
        ("MIG slice", board.mig or ""),
        ("UUID", board.uuid or ""),
        ("memory", numbers.gib(board.memory_bytes) if board.memory_bytes else ""),
        ("power limit", f"{numbers.significant(board.power_limit_w, 3)} W" if board.power_limit_w else ""),
        ("driver", board.driver or ""),
    )


def _software(environment: Environment) -> tuple[tuple[str, str], ...]:
    return (
        ("Python", environment.python),
        ("torch", environment.torch or ""),
        ("CUDA", environment.cuda or ""),
        ("Triton", environment.triton or ""),
        ("image", environment.image or ""),
    )


def findings(run: Run) -> Section | None:
    """What the doctor found where the arms ran, also of distributions that the decision does not rest on."""
    rows = tuple((found.severity.value, found.what, found.why, found.remedy, found.source or "") for found in run.findings)
    header = ("", "what", "why it matters", "what to do", "source")
    return Section("Wrong with the serving environment", (Table(header, rows),)) if rows else None


def rules(run: Run) -> Section:
    """Whose rules chose the default and the candidates, beside the engine that was really there."""
    default = run.default
    engine = wording.engine(run.scenario.engine.name)
    whose = f"as {wording.who_chose(run.scenario)}" if run.scenario.engine.choices else "by itself"
    phases, pick = run.scenario.engine.role.phases, Pair(default.prefill, default.decode)
    backends = ", ".join(f"{phase.value} {pick.of(phase)}" for phase in reversed(phases))
    lines = (
        f"{wording.engine_line(run)}.",
        f"{engine} {whose}: {backends}, page size {default.page_size}, KV cache {default.kv_cache_dtype}: {default.because}",
    )
    own = asked.lines(default.asked, run.scenario.engine.name) if default.asked else ()
    return Section("Rules", (*lines, *own, *_newer(run)))


def _newer(run: Run) -> tuple[str, ...]:
    if run.engine_version is None or run.engine_version == run.default.rules_version:
        return ()
    return ("The two versions differ; what the default was follows the rules' version, what was timed the engine's.",)


def wall_time(run: Run) -> Section:
    """Where the wall time went, phase by phase."""
    phases = [(phase, spent) for phase, spent in run.wall_seconds if spent > 0]
    total = sum(spent for _, spent in phases)
    rows = tuple((phase, numbers.seconds(spent), numbers.percent(spent / total)) for phase, spent in phases)
    table = Table(("phase", "time", "share"), (*rows, ("in all", numbers.seconds(total), "")))
    return Section("Where the wall time went", (table,) if rows else ("No time was recorded.",))


def reproduce(run: Run) -> Section:
    measure, timing = run.scenario.measure, run.scenario.measure.timing
    settings = (
        ("run", run.id),
        ("digest", wording.digest(run.digest)),
        ("created", run.created),
        ("attnpin", run.tool_version),
        ("protocol", str(run.protocol)),
        ("traffic", f"{run.scenario.traffic.name}: {wording.requests(run.scenario.traffic)}"),
        ("tensor parallel", str(run.scenario.engine.tensor_parallel)),
        ("profile", measure.profile),
        ("seed", str(measure.seed)),
        ("processes", f"{len(run.race)} of {'at most ' if len(run.race) < measure.processes else ''}{measure.processes}"),
        ("processes after the choice", str(len(run.confirmation)) if run.confirmation else ""),
        ("blocks a process", str(timing.blocks)),
        ("samples a visit", str(timing.replays)),
        ("device time a sample", numbers.milliseconds(timing.replay_ms)),
        ("labels", ", ".join(dict.fromkeys(label for one in run.rounds for label in one.labels))),
    )
    rows = tuple((name, value) for name, value in settings if value)
    return Section("How to reproduce", (Command(without_places(run.command)), Table(("setting", "value"), rows)))
