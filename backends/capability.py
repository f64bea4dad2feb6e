"""What a backend can do, as data."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from functools import cached_property

from backends.allowed import Allowed
from backends.arm import Provider
from backends.deviation import Deviation, Step
from backends.knob import Knob
from backends.limits import Clause, Excepted, Limit, Scoped
from backends.question import RULES
from backends.reason import Reason
from backends.serving_jit import ServingJit

Limits = tuple[Limit, ...]

# Rules that no setting can put right; the first one broken is the whole answer.
DECISIVE = ("device", "architecture", "attention")


@dataclass(frozen=True)
class InnerPath(Scoped):
    """A kernel that the backend launches where every condition of ``when`` is met: limits may speak of it (`path`)."""

    name: str
    source: str
    versions: tuple[str, ...] = RULES
    when: tuple[Clause, ...] = ()


@dataclass(frozen=True)
class Note(Scoped):
    """What the backend does where every condition of ``when`` is met, and what is no reason against it: a cost to measure, an
    answer to check. ``says`` is a clause that the backend is the subject of."""

    says: str
    source: str
    versions: tuple[str, ...] = RULES
    when: tuple[Clause, ...] = ()


@dataclass(frozen=True)
class KnownDeviation(Excepted):
    """What the backend computes otherwise than the model asks, on layers where the conditions hold: see `backends.deviation.Deviation`. It
    is no reason against what would run anyway: its answers are held to what is declared."""

    says: str
    source: str
    steps: tuple[Step, ...]
    keys: int | None
    versions: tuple[str, ...] = RULES
    when: tuple[Clause, ...] = ()
    unless: tuple[Clause, ...] = ()
    narrow_sums: bool = False


@dataclass(frozen=True)
class Judgement:
    """``reasons`` why the backend may not serve, each once; empty = it may. ``doubts``: limits that are kept or broken by what
    nobody knows, so that the backend is kept on trust. ``notes``: what it does here that is no reason against it; ``deviations``: what it
    computes otherwise than the model asks."""

    reasons: tuple[Reason, ...] = ()
    doubts: tuple[Reason, ...] = ()
    notes: tuple[Note, ...] = ()
    deviations: tuple[Deviation, ...] = ()


@dataclass(frozen=True, eq=False)
class Capability:
    """``modules`` are the import names its kernels live in, ``versions`` the rule sets that know the backend at all;
    ``history`` says why others do not. Each is itself alone, so that things can be remembered of it."""

    limits: Limits
    modules: tuple[str, ...] = ()
    versions: tuple[str, ...] = RULES
    paths: tuple[InnerPath, ...] = ()
    notes: tuple[Note, ...] = ()
    deviations: tuple[KnownDeviation, ...] = ()
    history: str | None = None

    @cached_property
    def of_version(self) -> dict[str, tuple[Limits, Limits]]:
        """The limits of each rule set: the decisive ones and the others."""
        return {rules: (self._of(rules, True), self._of(rules, False)) for rules in self.versions}

    @cached_property
    def decides_plainly(self) -> bool:
        """Whether its decisive limits speak of `DECISIVE` words alone."""
        limits = [limit for limit in self.limits if limit.rule in DECISIVE]
        return all(limit.words <= set(DECISIVE) for limit in limits)

    @cached_property
    def minds_pages(self) -> bool:
        """Whether any of its limits is on page sizes."""
        return any(limit.rule == "page_size" for limit in self.limits)

    def _of(self, rules: str, decisive: bool) -> Limits:
        return tuple(limit for limit in self.limits if rules in limit.versions and (limit.rule in DECISIVE) is decisive)


@dataclass(frozen=True)
class Calls:
    """How releases of the engine call the library: knobs of a driver that issues their calls. ``engine``: spans of releases."""

    engine: tuple[Allowed, ...]
    knobs: tuple[tuple[str, str], ...]
    source: str


@dataclass(frozen=True)
class DriverEntry:
    """A worker class that can drive the backend. ``packages`` are the import names it needs, ``devices`` where it runs,
    ``attention`` the kinds it lays out, ``tools`` what the worker must have besides ("c++"), ``limits`` what it refuses although
    the backend would not, ``calls`` what it does otherwise for releases of the engine other than the newest, ``knobs`` the settings of
    its own that an arm may have, ``libraries`` the import names that a knob may have it call instead, ``optional`` those that it takes
    by itself where they are there."""

    provider: Provider
    driver: str
    packages: tuple[str, ...]
    devices: tuple[str, ...]
    attention: tuple[str, ...] = ("mha",)
    tools: tuple[str, ...] = ()
    limits: Limits = ()
    calls: tuple[Calls, ...] = ()
    knobs: tuple[Knob, ...] = ()
    libraries: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()


@dataclass(frozen=True)
class BackendEntry:
    """One candidate under the engine's name for it. ``drivers`` in order of preference, empty = none in this version.
    ``graph``: whether the engine captures decode with it (else it serves eagerly). ``jit`` None = nobody has read when it
    builds kernels. ``engine`` is the one whose backend it is. ``undriven``: why it has no driver, a clause."""

    name: str
    capability: Capability
    drivers: tuple[DriverEntry, ...] = ()
    aliases: tuple[str, ...] = ()
    graph: bool = True
    jit: ServingJit | None = None
    engine: str = "sglang"
    undriven: str | None = None


def missing_modules(modules: tuple[str, ...], packages: Container[str] | None) -> tuple[Reason, ...]:
    """One reason a module that is needed and was not found; none while nobody has looked (``packages`` None)."""
    missing = [module for module in modules if packages is not None and module not in packages]
    return tuple(
        Reason(
            rule="module",
            asked=f"module {module}, which cannot be imported where the worker runs",
            allowed=f"{module} importable",
            remedy="install it there, or put its folder on engine.path",
            source="the worker's own look at its import path",
        )
        for module in missing
    )
