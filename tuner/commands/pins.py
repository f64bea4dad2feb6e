"""With a pin in hand: how does a launcher want it?"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from tuner.boundary import say
from tuner.commands.options import ConfigDir, Overrides, PinFile, pin_path_of
from tuner.errors import UsageError


def export(
    to: Annotated[
        str, typer.Option("--to", metavar="LAUNCHER", help="sglang, sglang-yaml, env, json, constraints, or one of --config-dir")
    ],
    overrides: Overrides = None,
    pin: PinFile = None,
    as_hint: Annotated[bool, typer.Option("--as-hint", help="commented out, also for another engine than the pin's")] = False,
    config_dir: ConfigDir = None,
) -> None:
    """The pin's flags as a launcher wants them, each with its reason; or what pip and uv must hold (--to constraints)."""
    from reports.export import export as rendered
    from reports.launchers.launcher import ExportError
    from store.pin_files import read_pin
    from tuner.launchers import launcher_for, load_launchers

    made, launcher = read_pin(pin_path_of(overrides, config_dir, pin)), launcher_for(to, load_launchers(config_dir))
    try:
        exported = rendered(made, launcher, as_hint)
    except ExportError as error:
        raise UsageError(str(error)) from error
    for note in exported.notes:
        say(note)
    sys.stdout.write(exported.text)
