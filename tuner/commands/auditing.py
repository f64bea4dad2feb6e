"""Are the reasons recorded for the engine's default still true?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from tuner.commands.options import ConfigDir, Json, Overrides, settings_here
from tuner.errors import UsageError

Recorded = Annotated[
    Path | None,
    typer.Option("--recorded", metavar="FILE", help="judge figures that somebody reported (YAML), or an evidence file; measures nothing"),
]
Pin = Annotated[Path | None, typer.Option("--pin", metavar="FILE", help="judge the run behind a pin; measures nothing")]


def audit(
    overrides: Overrides = None,
    recorded: Recorded = None,
    pin: Pin = None,
    json: Json = False,
    config_dir: ConfigDir = None,
) -> int:
    """Tests the reasons recorded for the engine's default where it serves. Exit 0: keep it; 1: it is slower; 3: not to be told."""
    from reports.audit import render_json, render_text
    from tuner.audit import run_audit
    from tuner.auditing.recorded import audit_of_evidence, audit_of_figures, audit_of_pin

    if recorded is not None and pin is not None:
        raise UsageError(f"--recorded {recorded} and --pin {pin} are two things to judge; give one of them")
    if (recorded is not None and recorded.name.endswith(".zst")) or pin is not None:
        refuse_overrides(overrides)
    if pin is not None:
        found = audit_of_pin(pin, config_dir)
    elif recorded is None:
        found = run_audit(settings_here(overrides, config_dir))
    elif recorded.name.endswith(".zst"):
        found = audit_of_evidence(recorded, config_dir)
    else:
        found = audit_of_figures(recorded, overrides or [], config_dir)
    sys.stdout.write(render_json(found) if json else render_text(found))
    return found.exit_code


def refuse_overrides(overrides: list[str] | None) -> None:
    if overrides:
        raise UsageError(f"a recorded run is judged as it was asked for; leave {overrides[0]} out, or measure with it and without a file")
