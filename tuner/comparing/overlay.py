"""What has to be laid over an environment so that it serves with other versions: the packages named, and what these require."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from packaging.utils import canonicalize_name

from backends.outcome import Outcome
from tuner.device.session import Session
from tuner.doctor.requirements import holding, met_by
from tuner.errors import UsageError
from tuner.workers.failure import WorkerFailed

Laid = Sequence[tuple[str, str, Sequence[str]]]  # name, version, what it requires


def laid_over(session: Session, packages: Sequence[str], wheels: str | None) -> tuple[str, tuple[str, ...]]:
    """The folder, where the worker runs, that holds ``packages`` and nothing else; and a sentence for each requirement of theirs that
    is not met there, since nothing but what was named is moved.

    Raises `UsageError` for what cannot be installed.
    """
    with refusals_as_usage():
        found = session.keeper.overlay(packages, wheels)
    laid: Laid = found["distributions"]
    pairs = [*found["installed"], *((name, version) for name, version, _ in laid)]
    present: dict[str, str] = {canonicalize_name(name): version for name, version in pairs}
    return str(found["folder"]), tuple(unmet_by(laid, present, found["python"]))


@contextmanager
def refusals_as_usage() -> Iterator[None]:
    """What cannot be had where the worker runs is the user's to name otherwise: `UsageError` with the worker's words."""
    try:
        yield
    except WorkerFailed as failure:
        if failure.outcome in (Outcome.INTERRUPTED, Outcome.TIMED_OUT):
            raise
        raise UsageError(failure.detail) from failure


def unmet_by(laid: Laid, installed: Mapping[str, str], python: str) -> Iterator[str]:
    """Of what ``laid`` distributions require under that Python, given the ``installed`` versions by normalised name, they themselves
    among them."""
    for name, version, requires in laid:
        for need in holding(requires, python):
            present = installed.get(canonicalize_name(need.name))
            if present is None:
                yield f"{name} {version} requires {need}, which is not installed there; name it in the environment too if it is needed"
            elif not met_by(need, present):
                yield f"{name} {version} requires {need}, and {present} is installed there; name a version in the environment too"
