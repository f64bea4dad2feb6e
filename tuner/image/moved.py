"""Which distributions under a pin another image has in other versions."""

from __future__ import annotations

from collections.abc import Iterator

from backends.environment import Environment
from store.pins.pin import Pin
from store.runs.run import Run
from store.verdicts.verdict import Change
from tuner.errors import UsageError
from tuner.image.listing import Listing
from tuner.pin import arms_on, arms_under, distributions_under

PERHAPS_UNNAMED = "not listed, unless it is the editable install that the list does not name"


def moved(pin: Pin, run: Run, listing: Listing, now: Environment) -> tuple[Change, ...]:
    """``now`` is `environment_of` ``listing``. Raises `UsageError` where the list has nothing that the pin rests on."""
    then = {name: version for name, version, _ in pin.valid_for.distributions}
    if then and not any(listing.of(name) for name in then):
        raise UsageError(
            f"the packages ({listing.form}) hold none of the distributions that the pin rests on ({', '.join(then)}); "
            "list those of the image that serves"
        )
    under = [arm for arm in run.arms if run.decision and arm.name in arms_under(run.decision)]
    names = dict.fromkeys((*then, *(each.name for each in distributions_under(now, under))))
    return (*_python(pin, listing), *_distributions(names, then, pin, run, listing, now))


def _distributions(
    names: dict[str, None], then: dict[str, str], pin: Pin, run: Run, listing: Listing, now: Environment
) -> Iterator[Change]:
    """torch is known by either of its versions: that of PyPI's distribution lacks the CUDA tag by which that very build calls itself."""
    itself = {"torch": pin.valid_for.torch}
    for name in names:
        before, after = then.get(name), listing.of(name)
        if after is None:
            yield Change(name, before, PERHAPS_UNNAMED if listing.unnamed else None, arms_on(run, now, name))
        elif not any(version and after.is_release(version) for version in (before, before and itself.get(name))):
            yield Change(name, before, after.written, arms_on(run, now, name))


def _python(pin: Pin, listing: Listing) -> Iterator[Change]:
    if listing.python not in (None, pin.valid_for.python):
        yield Change("Python", pin.valid_for.python, listing.python, ("every arm",))
