"""A file of KEY=value lines that `sh`, docker, compose and systemd all read alike: no quotes, no blanks, comments on their own lines.

Engines read no variable of their own for a backend, so one variable carries the flags to whoever starts the server. They
stand as `--name=value` with commas between: a blank would need quotes in `sh`, and docker keeps quotes as part of the value.
"""

from __future__ import annotations

import re

from reports.launchers.header import header, unset
from reports.launchers.launcher import ExportError, Flag, Launcher, flags_of
from store.pin import Pin

VARIABLE = "ATTNPIN_ARGS"
PORTABLE = re.compile(r"[\w.+:@/-]+", re.ASCII)


def render(pin: Pin, launcher: Launcher) -> str:
    flags = flags_of(pin, launcher)
    reasons = [f"# {flag.name}: {flag.because}" for flag in flags if flag.because] if flags else [f"# {unset(pin)}"]
    lines = [*(f"# {line}" for line in header(pin)), *reasons, f"{VARIABLE}={','.join(map(_word, flags))}"]
    return "\n".join(lines) + "\n"


def _word(flag: Flag) -> str:
    if not PORTABLE.fullmatch(flag.value):
        raise ExportError(f"--{flag.name} {flag.value!r} cannot stand unquoted in an env file; export it with --to sglang")
    return f"--{flag.name}={flag.value}"
