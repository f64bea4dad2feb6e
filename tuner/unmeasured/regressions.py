"""Releases that are known to have made attention slower, and whether a pin would serve through what they changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from backends.arm import Arm
from backends.cell import Phase
from backends.environment import Environment
from store.decision import Decision, Pair
from store.runs.run import Run
from store.verdicts.verdict import Bearing, KnownIssue
from tuner.doctor.known import read_known
from tuner.doctor.versions import parsed, within
from tuner.engines.layers import layers_of


@dataclass(frozen=True)
class Regression:
    """An entry of conf/known/regressions.yaml, which says what each field means."""

    name: str
    distribution: str
    versions: str
    first_good: str | None
    engine: str
    what: str
    why: str
    ways_out: tuple[str, ...]
    sources: tuple[str, ...]
    engine_versions: str = ""
    backends: tuple[str, ...] = ()
    phases: tuple[str, ...] = ()
    sm: tuple[int, ...] = ()
    attention: tuple[str, ...] = ()
    kv_dtypes: tuple[str, ...] = ()
    least_group: int = 1
    figures: tuple[str, ...] = ()


def load_regressions(config_dir: str | None = None) -> tuple[Regression, ...]:
    """Raises `UsageError` for an entry that cannot be used."""
    return read_known("regressions", Regression, config_dir)


def regressions_in(run: Run, now: Environment, known: Iterable[Regression]) -> Iterator[KnownIssue]:
    """Those that bear on an arm the decision of ``run`` rests on, in ``now`` and not in the environment of then."""
    for entry in known:
        before, after = bearing(entry, run, run.environment), bearing(entry, run, now)
        if after is not None and before is not Bearing.SERVED and before is not after:
            yield _issue(entry, run, now, after)


def bearing(entry: Regression, run: Run, here: Environment) -> Bearing | None:
    """None: nothing that the decision rests on is touched. What no range can be held against is possible, not certain."""
    if not reaches(entry, run):
        return None
    release, engine = release_of(here, entry.distribution), _engine(here, run)
    hit, led = affected(release, entry.versions), affected(engine, entry.engine_versions)
    if release is None or hit is False or led is False or run.decision is None:
        return None
    served = {arm.name for arm in touched(entry, run, _pairs(served_pair(run.decision)))}
    ranked = {arm.name for arm in touched(entry, run, (score.pair for score in run.decision.scores))}
    if not served:
        return Bearing.RIVAL if ranked else None
    return Bearing.SERVED if hit and led else Bearing.POSSIBLE


def touched(entry: Regression, run: Run, pairs: Iterable[Pair]) -> Iterator[Arm]:
    """The arms of ``pairs`` that run in a phase, with a backend and a KV dtype that ``entry`` names."""
    phases = [phase for phase in Phase if not entry.phases or phase.value in entry.phases]
    names = {pair.of(phase) for pair in pairs for phase in phases}
    for arm in run.arms:
        if arm.name in names and concerns(entry, arm):
            yield arm


def concerns(entry: Regression, arm: Arm) -> bool:
    """By backend and KV dtype."""
    return (not entry.backends or arm.backend in entry.backends) and (not entry.kv_dtypes or arm.kv_dtype in entry.kv_dtypes)


def served_pair(decision: Decision) -> Pair | None:
    """What a server with the pin's flags runs; without a pick the default."""
    return decision.pick or decision.default


def _pairs(pair: Pair | None) -> tuple[Pair, ...]:
    return () if pair is None else (pair,)


def reaches(entry: Regression, run: Run) -> bool:
    """Whether engine, board and model are such that the fault shows."""
    if entry.engine != run.scenario.engine.name:
        return False
    model, sm = run.scenario.model, run.environment.board.sm
    kind, board = not entry.attention or model.attention.value in entry.attention, not entry.sm or sm in entry.sm
    return kind and board and max(each.group for each in layers_of(model, run.scenario.engine)) >= entry.least_group


def release_of(here: Environment, distribution: str) -> str | None:
    return next((each.version for each in here.distributions if each.name == distribution), None)


def _engine(here: Environment, run: Run) -> str | None:
    """Where no engine is installed its calls were issued without it, as those of the release that the scenario names."""
    return here.releases.get(run.scenario.engine.name) or (run.scenario.engine.version if run.engine_version is None else None)


def affected(version: str | None, versions: str) -> bool | None:
    """None where it cannot be told: no version, or one that no range says anything of."""
    if not versions:
        return True
    return None if version is None or parsed(version) is None else within(version, versions)


def _issue(entry: Regression, run: Run, now: Environment, found: Bearing) -> KnownIssue:
    return known_issue(entry, now, found, f"under {entry.engine} {_engine(now, run) or 'of an unknown release'}")


def known_issue(entry: Regression, now: Environment, found: Bearing, under: str) -> KnownIssue:
    """``under``: whose calls lead there, in words."""
    release = release_of(now, entry.distribution)
    good = f"; the first good release is {entry.first_good}" if entry.first_good else ""
    what = f"{entry.distribution} {release or ''} {entry.what} ({under}{good})"
    return KnownIssue(entry.name, found, " ".join(what.split()), entry.why, entry.ways_out, entry.sources)
