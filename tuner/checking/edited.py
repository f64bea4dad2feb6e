"""A pin against the run behind it: flags that somebody wrote by hand were never measured."""

from __future__ import annotations

from pathlib import Path

from reports import wording
from store.pins.pin import Pin
from store.pins.pin_files import evidence_of, read_pin
from store.runs.run import Run
from tuner.errors import UsageError


def unedited(path: Path) -> tuple[Pin, Run]:
    """The pin at ``path`` and the run behind it. Raises `StoreError` for what cannot be read, and as `refuse_edited`."""
    pin = read_pin(path)
    run = evidence_of(path, pin)
    refuse_edited(pin, run)
    return pin, run


def refuse_edited(pin: Pin, then: Run) -> None:
    """Raises `UsageError` for flags that the run behind the pin did not decide for: nothing was ever measured for them."""
    decided = dict(then.decision.flags) if then.decision else {}
    if dict(pin.flags) != decided or pin.run != then.id:
        said = wording.flags(pin.flags) or "no flag"
        meant = wording.flags(tuple(decided.items())) or "none"
        raise UsageError(
            f"the pin of run {pin.run} sets {said}, and run {then.id} in its evidence decided for {meant}: somebody edited one of "
            "them; restore both, or write them again with attnpin tune"
        )
