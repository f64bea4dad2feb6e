"""A part of an srt-slurm recipe: the flags of one role, as keys.

Keys become options as they stand, numbers and texts their values (src/srtctl/backends/sglang.py, _config_to_cli_args). A pin of a server
that does one phase stands in that phase's role; `roles.ROLE.args` is of schema 2, `backend.sglang_config` was its place before.
"""

from __future__ import annotations

from reports.launchers import sglang_yaml
from reports.launchers.header import header, unset
from reports.launchers.launcher import Launcher, flags_of
from store.pins.pin import Pin

ROLES = {"prefill": ("prefill", "prefill"), "decode": ("decode", "decode")}  # in schema 2, and before
UNIFIED = ("agg", "aggregated")
INDENT = " " * 6


def render(pin: Pin, launcher: Launcher) -> str:
    flags = flags_of(pin, launcher)
    role, before = ROLES.get(dict(pin.valid_for.settings).get("engine.role", ""), UNIFIED)
    args = [f"{INDENT}{line}" for flag in flags for line in sglang_yaml.lines(flag, pin.run)]
    return "\n".join(
        [
            *(f"# {line}" for line in header(pin, launcher)),
            f"# in a recipe without schema: 2 the keys stand under backend.sglang_config.{before}",
            "roles:",
            f"  {role}:",
            *(["    args:", *args] if args else [f"    # {unset(pin)}", "    args: {}"]),
            "",
        ]
    )
