"""Would pins hold in an image of which only the packages are known? Nothing is measured, and no GPU is needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from reports import wording
from store.errors import StoreError
from store.pins.pin import Pin
from store.runs.run import Run
from store.verdicts.verdict import Change, FlagsNow, Status, Verdict
from tuner.checking.edited import unedited
from tuner.errors import OK, Incomplete, UsageError
from tuner.image.environment import environment_of
from tuner.image.listing import Listing
from tuner.image.moved import moved
from tuner.image.reading import read_listing
from tuner.unmeasured.flags import Ask, Case, all_by_rules
from tuner.unmeasured.issues import Knowledge, Requirements, issues, knowledge
from tuner.unmeasured.weigh import measuring, weighed

NOT_LISTED = "contents, driver and variables are in no list of packages, and were not compared"
MOST_NAMES = 4


@dataclass(frozen=True)
class Opened:
    """A pin held against a list of packages; ``found`` says what moved."""

    case: Case
    found: Verdict


def check_packages(pins: Sequence[Path], packages: str, config_dir: str | None = None, ask: Ask = all_by_rules) -> tuple[Verdict, ...]:
    """One verdict a pin, in order. ``packages`` as for `read_listing`; ``ask`` says what an engine makes of the flags of pins.

    Raises `UsageError` for a list that cannot be read. Of several pins one that cannot be judged has that for its verdict; of a
    single one `StoreError` and `UsageError` come through.
    """
    listing, known = read_listing(packages), knowledge(config_dir)
    open_one = opened if len(pins) == 1 else _opened_or_unreadable
    return judged([open_one(pin, listing, known) for pin in pins], listing, known, ask)


def judged(pins: Sequence[Opened | Verdict], listing: Listing, known: Knowledge, ask: Ask = all_by_rules) -> tuple[Verdict, ...]:
    """The verdicts on those that were opened, and those that were given. All flags are asked about at once."""
    flags = iter(ask([each.case for each in pins if isinstance(each, Opened)]))
    requires = tuple((each.name, each.requires) for each in listing.found)
    return tuple(each if isinstance(each, Verdict) else _weighed(each, next(flags), known, requires) for each in pins)


def _weighed(pin: Opened, flags: FlagsNow, known: Knowledge, requires: Requirements) -> Verdict:
    found = weighed(pin.found, pin.case.pin, flags, issues(pin.case.run, pin.case.now, known, requires))
    made_on = wording.made_on(pin.case.pin, pin.case.run.command)
    return replace(found, command=f"{found.command}{made_on}") if found.command else found


def opened(path: Path, listing: Listing, known: Knowledge) -> Opened:
    """Raises `StoreError` for a pin that cannot be read, `UsageError` for one that was edited and for the list of another kind of image."""
    pin, run = unedited(path)
    return held_against(path, pin, run, listing, known)


def held_against(path: Path, pin: Pin, run: Run, listing: Listing, known: Knowledge) -> Opened:
    """``path`` is where the pin lies, in words. Raises `UsageError` as `opened`."""
    now = environment_of(listing, run, known.packages.distributions)
    return Opened(Case(pin, run, now), _found(path, pin, run, moved(pin, run, listing, now)))


def _opened_or_unreadable(path: Path, listing: Listing, known: Knowledge) -> Opened | Verdict:
    try:
        return opened(path, listing, known)
    except (StoreError, UsageError) as error:
        return Verdict(Status.UNREADABLE, (), str(error), error.exit_code, pin=str(path))


def _found(path: Path, pin: Pin, run: Run, changes: tuple[Change, ...]) -> Verdict:
    name, about = str(path), f"{wording.title(run)}: {wording.flags(pin.flags) or 'unset'}"
    if not changes:
        sentence = f"no distribution that the pin rests on moved: it holds as measured ({NOT_LISTED})"
        return Verdict(Status.UNCHANGED, (), sentence, OK, pin=name, about=about)
    gone = [change for change in changes if change.after is None]
    here = [change for change in changes if change.after is not None]
    said = [f"{_names(here)} moved under the pin"] if here else []
    said += [f"{_names(gone)}, which the pin rests on, {'is' if len(gone) == 1 else 'are'} not in the list"] if gone else []
    sentence = f"{', and '.join(said)}: whether it still holds needs measuring on {pin.valid_for.gpu}"
    return Verdict(Status.CHANGED, changes, sentence, Incomplete.exit_code, pin=name, about=about, command=measuring(name))


def _names(changes: Sequence[Change]) -> str:
    names = [change.what for change in changes]
    more = [f"{len(names) - MOST_NAMES} more"] if len(names) > MOST_NAMES else []
    *most, last = [*names[:MOST_NAMES], *more]
    return f"{', '.join(most)} and {last}" if most else last
