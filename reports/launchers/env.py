"""A file of KEY=value lines that `sh`, docker, compose and systemd all read alike: no quotes, no blanks, comments on their own lines.

Engines read no variable of their own for a backend, so one variable carries the flags to whoever starts the server; those that an
engine does read for a knob stand beside it. The flags stand as `--name=value` with commas between: a blank would need quotes in `sh`, and
docker keeps quotes as part of the value.
"""

from __future__ import annotations

from reports.launchers.header import header, unset
from reports.launchers.launcher import Launcher, flags_of, variables_of
from reports.launchers.portable import VARIABLE, assignment, word
from store.pins.pin import Pin


def render(pin: Pin, launcher: Launcher) -> str:
    flags = flags_of(pin, launcher)
    reasons = [f"# {flag.name}: {flag.because}" for flag in flags if flag.because] if flags else [f"# {unset(pin)}"]
    values = ",".join(word(flag, "an env file") for flag in flags)
    beside = [line for each in variables_of(pin) for line in (f"# {each.name}: {each.because}", assignment(each, "an env file"))]
    return "\n".join([*(f"# {line}" for line in header(pin, launcher)), *reasons, f"{VARIABLE}={values}", *beside]) + "\n"
