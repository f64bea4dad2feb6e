"""With a pin in hand: is it still true, and how does a launcher want it?"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from tuner.boundary import say
from tuner.commands.options import ConfigDir, Json, Overrides, PinFile, pin_path_of, settings_of
from tuner.errors import UsageError


def check(
    overrides: Overrides = None,
    pin: PinFile = None,
    fast: Annotated[bool, typer.Option("--fast", help="compare versions and board only, measure nothing")] = False,
    json: Json = False,
    config_dir: ConfigDir = None,
) -> int:
    """Has anything under the pin changed? With model=hf model.path=CHECKPOINT also its config.json. Exit 0: no; 3: yes, measure again."""
    if not fast:
        raise UsageError("check without --fast would measure, which this version cannot; add --fast, or measure anew with `attnpin tune`")
    from reports.verdict import render_json, render_text
    from tuner.check import check_fast

    settings = settings_of(overrides, config_dir, pin)
    model = settings.scenario.model
    verdict = check_fast(settings.pin_path, settings.scenario.engine, model if model.config_sha256 else None, settings.world)
    sys.stdout.write(render_json(verdict) if json else render_text(verdict))
    return verdict.exit_code


def export(
    to: Annotated[str, typer.Option("--to", metavar="LAUNCHER", help="sglang, sglang-yaml, env, json, or one of --config-dir")],
    overrides: Overrides = None,
    pin: PinFile = None,
    as_hint: Annotated[bool, typer.Option("--as-hint", help="commented out, also for another engine than the pin's")] = False,
    config_dir: ConfigDir = None,
) -> None:
    """The pin's flags as a launcher wants them, each with its reason."""
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
