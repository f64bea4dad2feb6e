"""What a backend can do, as data."""

from __future__ import annotations

from collections.abc import Container, Hashable
from dataclasses import dataclass
from functools import cached_property

from backends.arm import Provider
from backends.limits import Condition, Limit, Scoped
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
    when: tuple[Condition, ...] = ()


@dataclass(frozen=True)
class Note(Scoped):
    """What the backend does where every condition of ``when`` is met, and what is no reason against it: a cost to measure, an
    answer to check. ``says`` is a clause that the backend is the subject of."""

    says: str
    source: str
    versions: tuple[str, ...] = RULES
    when: tuple[Condition, ...] = ()


@dataclass(frozen=True)
class Judgement:
    """``reasons`` why the backend may not serve, each once; empty = it may. ``doubts``: limits that are kept or broken by what
    nobody knows, so that the backend is kept on trust. ``notes``: what it does here that is no reason against it."""

    reasons: tuple[Reason, ...] = ()
    doubts: tuple[Reason, ...] = ()
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True)
class Capability:
    """``modules`` are the import names its kernels live in, ``versions`` the rule sets that know the backend at all;
    ``history`` says why others do not."""

    limits: Limits
    modules: tuple[str, ...] = ()
    versions: tuple[str, ...] = RULES
    paths: tuple[InnerPath, ...] = ()
    notes: tuple[Note, ...] = ()
    history: str | None = None

    @cached_property
    def of_version(self) -> dict[str, tuple[Limits, Limits]]:
        """The limits of each rule set: the decisive ones and the others."""
        return {rules: (self._of(rules, True), self._of(rules, False)) for rules in RULES}

    @cached_property
    def decisive_words(self) -> tuple[str, ...]:
        """All that its decisive limits speak of."""
        limits = [limit for limit in self.limits if limit.rule in DECISIVE]
        return tuple({**dict.fromkeys(limit.rule for limit in limits), **{rule: None for limit in limits for rule, _ in limit.when}})

    @cached_property
    def decisions(self) -> dict[Hashable, Judgement]:
        """Those of `backends.judgement` so far, by what they rest on."""
        return {}

    def _of(self, rules: str, decisive: bool) -> Limits:
        return tuple(limit for limit in self.limits if rules in limit.versions and (limit.rule in DECISIVE) is decisive)


@dataclass(frozen=True)
class DriverEntry:
    """A worker class that can drive the backend. ``packages`` are the import names it needs, ``devices`` where it runs,
    ``attention`` the kinds it lays out, ``tools`` what the worker must have besides ("c++"), ``limits`` what it refuses although
    the backend would not."""

    provider: Provider
    driver: str
    packages: tuple[str, ...]
    devices: tuple[str, ...]
    attention: tuple[str, ...] = ("mha",)
    tools: tuple[str, ...] = ()
    limits: Limits = ()


@dataclass(frozen=True)
class BackendEntry:
    """One candidate under the engine's name for it. ``drivers`` in order of preference, empty = none in this version.
    ``graph``: whether the engine captures decode with it (else it serves eagerly). ``jit`` None = nobody has read when it
    builds kernels."""

    name: str
    capability: Capability
    drivers: tuple[DriverEntry, ...] = ()
    aliases: tuple[str, ...] = ()
    graph: bool = True
    jit: ServingJit | None = None


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
