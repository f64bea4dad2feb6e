"""The pin's flags and reasons as JSON, for a program that starts the server."""

from __future__ import annotations

import json

from reports.launchers.launcher import Launcher, flags_of, variables_of
from store.pins.pin import Pin


def render(pin: Pin, launcher: Launcher) -> str:
    """``flags`` is {} when ``unset`` holds a reason, and ``unset`` is null when there are flags."""
    flags = flags_of(pin, launcher)
    holds = pin.valid_for
    content = {
        "engine": pin.engine,
        "flags": {flag.name: flag.value for flag in flags},
        **({"environment": dict(pin.variables)} if pin.variables else {}),
        "because": {flag.name: flag.because for flag in (*flags, *variables_of(pin)) if flag.because},
        "unset": pin.unset,
        "valid_for": {"engine_version": holds.engine_version, "gpu": holds.gpu, "model": holds.model, "traffic": holds.traffic},
        "launcher": {"engine_versions": launcher.versions, "read_in": launcher.read},
        "run": pin.run,
        "created": pin.created,
        "tool_version": pin.tool_version,
    }
    return json.dumps(content, indent=2) + "\n"
