"""What was measured: every arm on every cell, what really ran there, and how right it was."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from backends.cell import Phase
from backends.measured import Identity, Trial
from backends.outcome import Outcome
from reports import numbers, wording
from reports.kernel_names import launched
from reports.page import Section, Table
from store.decision import CellResult, Decision
from store.runs.run import Run

MODES = {"graph": "captured and replayed as a CUDA graph", "eager": "launched eagerly"}
DEFAULT, UNRANKED, ABOUT = "default", "not ranked", "about"
ONE_PROCESS = "one process timed both, so there is no interval and no rank; the arm's time is of that process, the default's of all of them"


def cell_tables(run: Run, decision: Decision) -> tuple[Section, ...]:
    """One section a phase and mode: a graph replay and an eager launch are never in one ranking."""
    kinds = [(phase, mode) for phase in Phase for mode in MODES]
    sections = [_cells(run, decision, phase, mode) for phase, mode in kinds]
    return tuple(section for section in sections if section is not None)


def _cells(run: Run, decision: Decision, phase: Phase, mode: str) -> Section | None:
    results = results_of(run, decision, phase, mode)
    if not results:
        return None
    shares = {weighted.cell.name: wording.share(weighted) for weighted in run.cells}
    rows = tuple((result.cell, shares[result.cell], *timing(result, decision, phase)) for result in results)
    note = f"{MODES[mode]}; time of one attention call in one layer; ratio = arm / default on that cell, above 1 is slower."
    table = Table(("cell", "tokens", "arm", "time", "ratio"), rows)
    return Section(f"Arms x cells: {phase.value}, {mode}", (note, *_why_unranked(rows, decision), table))


def results_of(run: Run, decision: Decision, phase: Phase, mode: str) -> list[CellResult]:
    """Results of one phase and mode: cells in the run's order, the fastest arm of a cell first."""
    order = {weighted.cell.name: index for index, weighted in enumerate(run.cells) if weighted.cell.phase is phase}
    chosen = [result for result in decision.cells if result.cell in order and result.mode == mode]
    return sorted(chosen, key=lambda result: (order[result.cell], result.median_us))


def timing(result: CellResult, decision: Decision, phase: Phase) -> tuple[str, str, str]:
    return result.arm, numbers.microseconds(result.median_us), _ratio(result, decision, phase)


def _ratio(result: CellResult, decision: Decision, phase: Phase) -> str:
    """The ratio with its interval; without one where a single process timed both; or why there is none."""
    if result.ratio is not None:
        return numbers.interval(result.ratio)
    if result.lone_ratio is not None:
        return f"{ABOUT} {numbers.ratio(result.lone_ratio)}"
    is_default = decision.default is not None and result.arm == decision.default.of(phase)
    return DEFAULT if is_default else UNRANKED


def has_about(rows: Iterable[Sequence[str]]) -> bool:
    """Whether a row's last column is a ratio without an interval."""
    return any(row[-1].startswith(ABOUT) for row in rows)


def _why_unranked(rows: Sequence[tuple[str, ...]], decision: Decision) -> tuple[str, ...]:
    if has_about(rows):
        return (f"{ABOUT.capitalize()}: {ONE_PROCESS}.",)
    if all(row[-1] != UNRANKED for row in rows):
        return ()
    if decision.default is None:
        return ("Not ranked: the default was not measured.",)
    return ("Not ranked: the default does not run in this mode.",)


def probes(run: Run) -> Section:
    """Each arm alone in its process, before the rounds: one short timing, not for ranking."""
    header = ("arm", "cell", "path", "mode", "device", "served", "metadata, host", "build", "capture", "peak memory")
    rows = tuple(_probe(trial) for trial in run.trials if trial.outcome is Outcome.MEASURED)
    note = "Each arm alone in its process; device = device time of one call, served = wall time of an eager call with its host cost."
    return Section("Probes", (note, Table(header, rows)) if rows else ("No arm was measured.",))


def _probe(trial: Trial) -> tuple[str, ...]:
    cost, identity = trial.cost, trial.identity
    assert cost is not None and identity is not None  # Trial refuses to be measured without them
    return (
        trial.arm,
        trial.cell,
        identity.resolved,
        identity.mode,
        numbers.microseconds(cost.device_us),
        "" if cost.served_us is None else numbers.microseconds(cost.served_us),
        numbers.microseconds(cost.metadata_host_us),
        "" if trial.build_s is None else numbers.seconds(trial.build_s),
        "" if trial.capture_s is None else numbers.seconds(trial.capture_s),
        "" if trial.peak_memory_bytes is None else numbers.gib(trial.peak_memory_bytes),
    )


def details(run: Run) -> Section | None:
    """What the driver, the check or the engine's log said of trials that gave a time: each text once an arm, with its cells."""
    cells: dict[tuple[str, str], list[str]] = {}
    for trial in run.trials:
        if trial.outcome is Outcome.MEASURED and trial.detail:
            cells.setdefault((trial.arm, trial.detail), []).append(trial.cell)
    rows = tuple((arm, ", ".join(names), detail) for (arm, detail), names in cells.items())
    return Section("Said of the trials that gave a time", (Table(("arm", "cells", "detail"), rows),)) if rows else None


def correctness(run: Run) -> Section:
    """The largest error of each arm against the float reference, and of its needles."""
    arms = dict.fromkeys(trial.arm for trial in run.trials)
    rows = tuple(row for row in (_errors(arm, [trial for trial in run.trials if trial.arm == arm]) for arm in arms) if any(row[1:]))
    note = "Largest error over all cells against a float reference, and of single keys that must be found (needles)."
    return Section("Correctness", (note, Table(("arm", "relative error", "needle error"), rows)) if rows else ("No answer was checked.",))


def _errors(arm: str, trials: list[Trial]) -> tuple[str, str, str]:
    return arm, _largest(trial.relative_error for trial in trials), _largest(trial.needle_error for trial in trials)


def _largest(errors: Iterable[float | None]) -> str:
    known = [error for error in errors if error is not None]
    return numbers.small(max(known)) if known else ""


def kernels(run: Run) -> Section:
    """Which kernels each arm launched on the cell of a phase that was probed first: a backend's name does not say it."""
    first: dict[tuple[str, str], Identity] = {}
    for trial in run.trials:
        if trial.identity:
            first.setdefault((trial.arm, phase_of(run, trial.cell)), trial.identity)
    rows = tuple(sorted((arm, phase, found.resolved, launched(found.kernels)) for (arm, phase), found in first.items()))
    note = "Device kernels of one call on the first cell of the phase; none can be read on a CPU. All are in the evidence."
    return Section("What really ran", (note, Table(("arm", "phase", "path", "kernels"), rows)) if rows else ("Nothing ran.",))


def phase_of(run: Run, cell: str) -> str:
    return next((weighted.cell.phase.value for weighted in run.cells if weighted.cell.name == cell), "")
