"""A verdict on what changed, with what is known of it and with what the engine makes of the pin's flags. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace

from reports import wording
from reports.verdict import in_words
from store.pins.pin import Pin
from store.verdicts.verdict import Bearing, Change, FlagsNow, KnownIssue, Served, Status, Verdict
from tuner.errors import REGRESSED, Incomplete


def weighed(found: Verdict, pin: Pin, flags: FlagsNow | None, issues: Sequence[KnownIssue] = ()) -> Verdict:
    """``found`` is unchanged or changed; a known fault counts only where something changed."""
    with_all = replace(found, flags=flags, issues=tuple(issues))
    served = [issue for issue in issues if issue.bearing is Bearing.SERVED]
    if flags is not None and (said := _against(pin, flags)):
        return replace(with_all, status=Status.REFUSED, sentence=said, exit_code=REGRESSED, command=None)
    if served:
        ways_out = f"; {served[0].ways_out[0]}" if served[0].ways_out else ""
        sentence = f"{served[0].what}, on what the pin serves with{ways_out}"
        return replace(with_all, status=Status.KNOWN_BAD, sentence=sentence, exit_code=REGRESSED, command=None)
    possible = [f"perhaps on what the pin serves with: {issue.what}" for issue in issues if issue.bearing is Bearing.POSSIBLE]
    if flags is not None and flags.now is not None and not flags.hold:
        return _with_another_default(with_all, flags, flags.now, possible)
    return replace(with_all, sentence="; ".join([found.sentence, *possible]))


def _against(pin: Pin, flags: FlagsNow) -> str | None:
    """Why the pin cannot go on as it is. Where it sets nothing, another default is no contradiction, only a reason to measure."""
    subject = wording.flags(pin.flags) or "a server that sets nothing, as the pin says,"
    if flags.refusal is not None:
        return f'{subject} would not start, by {flags.by}: "{flags.refusal}"'
    if pin.flags and not flags.hold and flags.now is not None:
        return f"{subject} comes to {in_words(flags.now)} instead of {in_words(flags.pinned)}, by {flags.by}"
    return None


def _with_another_default(found: Verdict, flags: FlagsNow, now: Served, possible: Sequence[str]) -> Verdict:
    """Of a pin that sets nothing: what it keeps is something else now, whether a distribution moved or not."""
    change = Change("the engine's choice", in_words(flags.pinned), in_words(now), ("every arm",))
    before = [found.sentence] if found.changes else []
    said = f"the engine's own choice, which the pin keeps, becomes {change.after} instead of {change.before}, by {flags.by}"
    return replace(
        found,
        status=Status.CHANGED,
        changes=(*found.changes, change),
        sentence="; ".join([*before, said, *possible]),
        exit_code=Incomplete.exit_code,
        command=found.command or (found.pin and measuring(found.pin)),
    )


def measuring(pin: str) -> str:
    """The command that says whether the pin at the path ``pin`` still holds."""
    return f"attnpin check --pin {shlex.quote(pin)}"
