"""A drop-in for a service: one variable that holds the flags, which the unit's ExecStart takes in as `$ATTNPIN_ARGS`, without braces.

systemd splits such a variable at blanks, and an empty one becomes no word at all; so the unit is written once, and a new pin is a new
drop-in. Comments have lines of their own (man systemd.syntax). A `%` or a quote would be read, so that no value may hold one.
"""

from __future__ import annotations

from reports.launchers.header import header, unset
from reports.launchers.launcher import Launcher, flags_of, variables_of
from reports.launchers.portable import VARIABLE, assignment, word
from store.pins.pin import Pin


def render(pin: Pin, launcher: Launcher) -> str:
    flags = flags_of(pin, launcher)
    reasons = [f"# --{flag.name}: {flag.because}" for flag in flags if flag.because] if flags else [f"# {unset(pin)}"]
    values = " ".join(word(flag, "a unit of systemd") for flag in flags)
    comments = (f"# {line}" for line in header(pin, launcher))
    beside = [
        line
        for each in variables_of(pin)
        for line in (f"# {each.name}: {each.because}", f'Environment="{assignment(each, "a unit of systemd")}"')
    ]
    return "\n".join([*comments, "[Service]", *reasons, f'Environment="{VARIABLE}={values}"', *beside]) + "\n"
