"""What serving with a pair of arms costs beside the time of its kernels: one reading a cost, each a number of the record."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from statistics import median_low

from backends.cell import Phase
from backends.measured import Trial
from backends.outcome import Outcome
from reports import numbers, terms
from store.decision import Pair
from store.runs.run import Run

FEATURES = "features it lacks"
UNREAD, UNMEASURED = "not known", "not measured"

Shown = str | None


@dataclass(frozen=True)
class Reading:
    """``read`` gives one pair's value as shown, None where the run does not have it: then it reads ``missing``. ``phase`` is
    the one it is a cost of, None = of both."""

    what: str
    read: Callable[[Run, Pair], Shown]
    missing: str = UNMEASURED
    phase: Phase | None = None

    def of(self, run: Run, pair: Pair) -> str:
        return self.read(run, pair) or self.missing


def of_trials(read: Callable[[Trial], float | None], show: Callable[[float], str], *phases: Phase) -> Callable[[Run, Pair], Shown]:
    """The largest over the cells of ``phases`` (none named: all), of each arm apart: a server with both has both."""

    def of(run: Run, pair: Pair) -> Shown:
        wanted = phases or tuple(Phase)
        trials = _measured(run, pair, wanted)
        arms = dict.fromkeys(pair.of(phase) for phase in wanted)
        return " + ".join(_all_known([_largest(map(read, (one for one in trials if one.arm == arm)), show) for arm in arms])) or None

    return of


def in_later_processes(phase: Phase) -> Callable[[Run, Pair], Shown]:
    """The slowest first call of each process of the race, in the median process."""

    def read(run: Run, pair: Pair) -> Shown:
        arm, cells = pair.of(phase), _cells(run, phase)
        seen = [
            [seconds for cell in measured.cells if cell.cell in cells for name, seconds in cell.first_call_s if name == arm]
            for measured in run.rounds
        ]
        slowest = [max(each) for each in seen if each]
        return numbers.wait(median_low(slowest)) if slowest else None

    return read


def page_size(run: Run, pair: Pair) -> Shown:
    return ", ".join(dict.fromkeys(str(arm.page_size) for arm in run.arms if arm.name in (pair.prefill, pair.decode))) or None


def _cells(run: Run, *phases: Phase) -> set[str]:
    return {weighted.cell.name for weighted in run.cells if weighted.cell.phase in phases}


def _measured(run: Run, pair: Pair, phases: tuple[Phase, ...]) -> list[Trial]:
    keys = {(pair.of(phase), cell) for phase in phases for cell in _cells(run, phase)}
    return [trial for trial in run.trials if trial.outcome is Outcome.MEASURED and (trial.arm, trial.cell) in keys]


def _largest(values: Iterable[float | None], show: Callable[[float], str]) -> Shown:
    known = [value for value in values if value is not None]
    return show(max(known)) if known else None


def _all_known(parts: list[Shown]) -> list[str]:
    """Nothing as soon as one part is unknown: half of a cost would read as all of it."""
    known = [part for part in parts if part is not None]
    return known if len(known) == len(parts) else []


def _capture_s(trial: Trial) -> float | None:
    """An eager call only settles its pace meanwhile."""
    return trial.capture_s if trial.identity and trial.identity.mode == "graph" else None


def _metadata_us(trial: Trial) -> float | None:
    return trial.cost.metadata_host_us if trial.cost else None


def _bytes(size: float) -> str:
    return numbers.memory(int(size))


READINGS = (
    Reading("page size", page_size),
    Reading("KV tokens", terms.reading(terms.pool_tokens), UNREAD),
    Reading("of them left empty by a request, on average", terms.reading(terms.unused_tokens), UNREAD),
    Reading(FEATURES, terms.reading(terms.lacking), UNREAD),
    Reading("builds kernels", terms.reading(terms.kernel_builds), UNREAD),
    Reading("workspaces", of_trials(lambda trial: trial.workspace_bytes, _bytes)),
    Reading("CUDA graphs", of_trials(lambda trial: trial.graph_bytes, _bytes, Phase.DECODE), phase=Phase.DECODE),
    Reading(
        "first prefill call, in its probe", of_trials(lambda trial: trial.first_call_s, numbers.wait, Phase.PREFILL), phase=Phase.PREFILL
    ),
    Reading("first prefill call, later processes", in_later_processes(Phase.PREFILL), phase=Phase.PREFILL),
    Reading("first decode call, in its probe", of_trials(lambda trial: trial.first_call_s, numbers.wait, Phase.DECODE), phase=Phase.DECODE),
    Reading("first decode call, later processes", in_later_processes(Phase.DECODE), phase=Phase.DECODE),
    Reading("opening the backend", of_trials(lambda trial: trial.open_s, numbers.wait)),
    Reading("graph capture", of_trials(_capture_s, numbers.wait, Phase.DECODE), phase=Phase.DECODE),
    Reading("largest error, prefill", of_trials(lambda trial: trial.relative_error, numbers.small, Phase.PREFILL), phase=Phase.PREFILL),
    Reading("largest error, decode", of_trials(lambda trial: trial.relative_error, numbers.small, Phase.DECODE), phase=Phase.DECODE),
    Reading("RMS error, prefill", of_trials(lambda trial: trial.rms_error, numbers.small, Phase.PREFILL), phase=Phase.PREFILL),
    Reading("RMS error, decode", of_trials(lambda trial: trial.rms_error, numbers.small, Phase.DECODE), phase=Phase.DECODE),
    Reading("metadata of a prefill step, host", of_trials(_metadata_us, numbers.microseconds, Phase.PREFILL), phase=Phase.PREFILL),
    Reading("metadata of a decode step, host", of_trials(_metadata_us, numbers.microseconds, Phase.DECODE), phase=Phase.DECODE),
)


def readings(run: Run) -> tuple[Reading, ...]:
    """The costs of the phases that the run's server has."""
    return tuple(reading for reading in READINGS if reading.phase is None or reading.phase in run.scenario.engine.role.phases)
