"""A server got slow: what is it?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from tuner.commands.checking import Packages
from tuner.commands.options import ConfigDir, Json, Overrides, settings_of
from tuner.commands.serving import Logs
from tuner.errors import OK, UsageError

Figures = Annotated[
    Path | None,
    typer.Option("--figures", metavar="FILE", help="times of then and now that you know (YAML): of attention, other parts, the server"),
]


def triage(
    pin: Annotated[str, typer.Option("--pin", metavar="FILE", help="the pin")],
    overrides: Overrides = None,
    log: Logs = None,
    url: Annotated[str | None, typer.Option("--url", metavar="URL", help="asked what it serves where the log does not tell")] = None,
    packages: Packages = None,
    figures: Figures = None,
    fast: Annotated[bool, typer.Option("--fast", help="leave the GPU alone: the first answer only")] = False,
    json: Json = False,
    config_dir: ConfigDir = None,
) -> int:
    """A server got slow: causes in order, each with its evidence and what to do next; "not attention" is one of them. A first answer from
    the log, what the server says and what changed under the pin; then, where its GPU is free, a minute of measuring.
    Exit 0: not attention; 1: attention, or it is not served as pinned; 3: not to be told yet; 5: wrong answers."""
    from reports.triaged import render_json, render_text
    from tuner.triage import Request
    from tuner.triage import triage as triaged

    if not log:
        raise UsageError("give the log of the server: attnpin triage --pin F --log L")
    if packages is not None and overrides:
        raise UsageError(f"--packages {packages} says what is installed, and {overrides[0]} where to look; give one of them")
    asked = Request(Path(pin), tuple(log), lambda: settings_of(overrides, config_dir), url, packages, figures, fast, config_dir)
    code = OK
    for answer in triaged(asked):
        if not json or answer.final:
            sys.stdout.write(render_json(answer) if json else render_text(answer))
            sys.stdout.flush()
        code = answer.exit_code
    return code
