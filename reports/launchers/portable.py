"""Flags whose words need no quotes, for the forms in which quotes mean something else to each reader."""

from __future__ import annotations

import re

from reports.launchers.launcher import ExportError, Flag

VARIABLE = "ATTNPIN_ARGS"
PORTABLE = re.compile(r"[\w.+:@/-]+", re.ASCII)


def assignment(variable: Flag, form: str) -> str:
    """``NAME=value``. Raises as `word`."""
    if not PORTABLE.fullmatch(variable.value):
        raise ExportError(f"{variable.name}={variable.value!r} cannot stand unquoted in {form}; export it with --to json")
    return f"{variable.name}={variable.value}"


def word(flag: Flag, form: str) -> str:
    """``--name=value``, a switch alone. Raises `ExportError` for a value that cannot stand without quotes in ``form`` ("an env file")."""
    if not PORTABLE.fullmatch(flag.value):
        raise ExportError(f"--{flag.name} {flag.value!r} cannot stand unquoted in {form}; export it with --to sglang")
    return f"--{flag.name}" if flag.switch else f"--{flag.name}={flag.value}"
