"""What has to be laid over an environment so that it serves with other versions: the packages named, and what these require."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from backends.outcome import Outcome
from tuner.errors import UsageError
from tuner.session import Session
from tuner.workers.failure import WorkerFailed

Laid = Sequence[tuple[str, str, Sequence[str]]]  # name, version, what it requires


def laid_over(session: Session, packages: Sequence[str], wheels: str | None) -> tuple[str, tuple[str, ...]]:
    """The folder, where the worker runs, that holds ``packages`` and nothing else; and a sentence for each requirement of theirs that
    is not met there, since nothing but what was named is moved.

    Raises `UsageError` for what cannot be installed.
    """
    try:
        found = session.overlay(packages, wheels)
    except WorkerFailed as failure:
        if failure.outcome in (Outcome.INTERRUPTED, Outcome.TIMED_OUT):
            raise
        raise UsageError(failure.detail) from failure
    laid: Laid = found["distributions"]
    pairs = [*found["installed"], *((name, version) for name, version, _ in laid)]
    return str(found["folder"]), tuple(unmet_by(laid, {canonicalize_name(name): version for name, version in pairs}))


def unmet_by(laid: Laid, installed: Mapping[str, str]) -> Iterator[str]:
    """Of what ``laid`` distributions require, given the ``installed`` versions by normalised name, they themselves among them."""
    for name, version, requires in laid:
        for need in needs(requires):
            present = installed.get(canonicalize_name(need.name))
            if present is None:
                yield f"{name} {version} requires {need}, which is not installed there; name it in the environment too if it is needed"
            elif not _fulfils(need, present):
                yield f"{name} {version} requires {need}, and {present} is installed there; name a version in the environment too"


def needs(requires: Iterable[str]) -> Iterator[Requirement]:
    """Those that hold without extras; one that cannot be read is nobody's need."""
    for text in requires:
        try:
            need = Requirement(text)
        except InvalidRequirement:
            continue
        if need.marker is None or need.marker.evaluate({"extra": ""}):
            yield need


def _fulfils(need: Requirement, present: str) -> bool:
    try:
        return need.specifier.contains(Version(present), prereleases=True)
    except InvalidVersion:
        return True
