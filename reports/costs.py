"""What else a switch changes beside the time of the kernels: pages, memory, builds, numerical error."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from backends.measured import Trial
from backends.outcome import Outcome
from reports import numbers
from reports.page import Section, Table
from store.decision import Decision, Pair
from store.run import Run


@dataclass(frozen=True)
class Cost:
    """Something else that the pick changes: the default's value and the pick's, as shown."""

    what: str
    default: str
    pick: str


def between(run: Run, default: Pair, pick: Pair) -> tuple[Cost, ...]:
    """What differs between the two pairs beside the time of their kernels."""
    readings = (
        ("page size", lambda pair: _page_sizes(run, pair)),
        ("KV pool", _largest(run, lambda trial: trial.pool_tokens, lambda tokens: f"{tokens:.0f} tokens")),
        ("first build", _largest(run, lambda trial: trial.build_s, numbers.seconds)),
        ("graph capture", _largest(run, lambda trial: trial.capture_s, numbers.seconds)),
        ("peak memory", _largest(run, lambda trial: trial.peak_memory_bytes, lambda size: numbers.gib(int(size)))),
        ("relative error", _largest(run, lambda trial: trial.relative_error, numbers.small)),
        ("metadata, host", _largest(run, _metadata_us, numbers.microseconds)),
    )
    found = (Cost(what, read(default), read(pick)) for what, read in readings)
    return tuple(cost for cost in found if cost.default and cost.pick and cost.default != cost.pick)


def _metadata_us(trial: Trial) -> float | None:
    return None if trial.cost is None else trial.cost.metadata_host_us


def _page_sizes(run: Run, pair: Pair) -> str:
    return ", ".join(str(size) for size in sorted({arm.page_size for arm in run.arms if arm.name in (pair.prefill, pair.decode)}))


def _largest(run: Run, read: Callable[[Trial], float | None], show: Callable[[float], str]) -> Callable[[Pair], str]:
    def of(pair: Pair) -> str:
        values = _values(read, (trial for trial in run.trials if trial.arm in (pair.prefill, pair.decode)))
        return show(max(values)) if values else ""

    return of


def _values(read: Callable[[Trial], float | None], trials: Iterable[Trial]) -> list[float]:
    readings = (read(trial) for trial in trials if trial.outcome is Outcome.MEASURED)
    return [value for value in readings if value is not None]


def table(run: Run, decision: Decision) -> Section | None:
    if decision.default is None or decision.pick is None or decision.pick == decision.default:
        return None
    rows = tuple((cost.what, cost.default, cost.pick) for cost in between(run, decision.default, decision.pick))
    return Section("What else the pick changes", (Table(("what", "default", "pick"), rows),) if rows else ("Nothing that was measured.",))
