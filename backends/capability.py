"""What a backend can do, as data, and the one function that says why it cannot do what is asked."""

from __future__ import annotations

from dataclasses import dataclass

from backends.arm import Provider
from backends.limits import Limit, misfits, reason
from backends.question import RULES, Question
from backends.reason import Reason

# Rules that no setting can put right; the first one broken is the whole answer.
DECISIVE = ("device", "architecture", "attention")

ATTENTION_CHOICES = "ATTENTION_BACKEND_CHOICES (0.5.16 sglang/srt/server_args.py, 0.5.22 sglang/srt/arg_groups/choices.py)"


@dataclass(frozen=True)
class Capability:
    """``modules`` are the import names its kernels live in, ``versions`` the rule sets that know the backend at all."""

    limits: tuple[Limit, ...]
    modules: tuple[str, ...] = ()
    versions: tuple[str, ...] = RULES


@dataclass(frozen=True)
class DriverEntry:
    """A worker class that can drive the backend. ``packages`` are the import names it needs, ``devices`` where it runs,
    ``attention`` the kinds it lays out, ``tools`` what the worker must have besides ("c++")."""

    provider: Provider
    driver: str
    packages: tuple[str, ...]
    devices: tuple[str, ...]
    attention: tuple[str, ...] = ("mha",)
    tools: tuple[str, ...] = ()


@dataclass(frozen=True)
class BackendEntry:
    """One candidate under the engine's name for it. ``drivers`` in order of preference, empty = none in this version.
    ``graph``: whether the engine captures decode with it (else it serves eagerly)."""

    name: str
    capability: Capability
    drivers: tuple[DriverEntry, ...] = ()
    aliases: tuple[str, ...] = ()
    graph: bool = True


def reasons(capability: Capability, question: Question) -> tuple[Reason, ...]:
    """Every reason why the backend may not serve ``question``, each once; empty = it may.

    A backend that the engine's version lacks, or that is not made for the device, the model or this kind of attention,
    gets that reason alone. Missing modules count only when nothing else speaks against it.
    """
    if question.rules not in capability.versions:
        return (_absent(capability.versions, question.rules),)
    found = dict.fromkeys(
        reason(limit, value) for layer in question.layers for limit in capability.limits for value in misfits(limit, question, layer)
    )
    for rule in DECISIVE:
        if alone := tuple(one for one in found if one.rule == rule):
            return alone
    return tuple(found) or missing_modules(capability.modules, question.packages)


def _absent(versions: tuple[str, ...], rules: str) -> Reason:
    known = " and ".join(versions)
    return Reason("version", f"SGLang {rules}", f"SGLang {known}", "serve with a version that has it", ATTENTION_CHOICES)


def missing_modules(modules: tuple[str, ...], packages: frozenset[str] | None) -> tuple[Reason, ...]:
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
