"""A pin against the run behind it: what somebody wrote by hand was never measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from reports import wording
from store.pins.pin import Pin, ValidFor
from store.pins.pin_files import evidence_of, read_pin
from store.runs.run import Run
from tuner.errors import UsageError
from tuner.pin import valid_for

BY_HAND = "somebody edited one of them; restore both, or write them again with attnpin tune"
WORD_FOR_WORD = (  # of what a pin is valid for, as its evidence has it
    *("gpu", "sm", "memory_bytes", "power_limit_w", "mig", "driver", "python", "torch", "cuda", "variables"),
    *("engine_version", "model", "tensor_parallel", "image"),
)


def unedited(path: Path) -> tuple[Pin, Run]:
    """The pin at ``path`` and the run behind it. Raises `StoreError` for what cannot be read, and as `refuse_edited`."""
    pin = read_pin(path)
    run = evidence_of(path, pin)
    refuse_edited(pin, run)
    return pin, run


def refuse_edited(pin: Pin, then: Run) -> None:
    """Raises `UsageError` for flags that the run behind the pin did not decide for, and for a board, a version or a setting that it was
    not measured with: nothing was ever measured for them."""
    decided = dict(then.decision.flags) if then.decision else {}
    if dict(pin.flags) != decided or pin.run != then.id:
        said = wording.flags(pin.flags) or "no flag"
        meant = wording.flags(tuple(decided.items())) or "none"
        raise UsageError(f"the pin of run {pin.run} sets {said}, and run {then.id} in its evidence decided for {meant}: {BY_HAND}")
    for what, said, meant in _written_otherwise(pin.valid_for, then):
        raise UsageError(f"the pin of run {pin.run} is valid for {what} {said}, and its evidence has {meant}: {BY_HAND}")


def _written_otherwise(said: ValidFor, then: Run) -> Iterator[tuple[str, str, str]]:
    """What, as the pin says it, as its evidence does. What an early pin lacks is not held against it."""
    measured = valid_for(then, then.decision)
    for name in WORD_FOR_WORD:
        mine, its = getattr(said, name), getattr(measured, name)
        if mine not in (None, ()) and mine != its:
            yield name, str(mine), str(its)
    there = {each.name: (each.version, each.digest) for each in then.environment.distributions}
    for name, *mine in said.distributions:
        if tuple(mine) != there.get(name):
            yield name, _content(mine), _content(there.get(name, ("none", "")))


def _content(found: Sequence[str]) -> str:
    version, digest = found
    return f"{version} ({wording.digest(digest)})" if digest else version
