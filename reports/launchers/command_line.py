"""Flags of an engine's server on one line, quoted for a shell. A pin that sets nothing gives an empty line."""

from __future__ import annotations

import shlex

from reports.launchers.launcher import Launcher, flags_of
from store.pins.pin import Pin


def render(pin: Pin, launcher: Launcher) -> str:
    return shlex.join(word for flag in flags_of(pin, launcher) for word in flag.words) + "\n"
