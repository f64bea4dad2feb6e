"""How sure anything measured on this board can be."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from tuner.commands.options import ConfigDir, Json, Overrides, settings_here

PROCESSES = 8

Processes = Annotated[int, typer.Option("--processes", min=2, help="fresh processes; each measures every arm beside its copy")]

Slowed = Annotated[
    list[float] | None,
    typer.Option("--slowed", min=0.001, max=1.0, metavar="SHARE", help="store rounds of copies slowed by this too (0.05); may be repeated"),
]


Neighbours = Annotated[
    bool,
    typer.Option("--neighbours", help="as many processes again while the other visible GPUs are busy; harmless: all are used at once"),
]


def calibrate(
    overrides: Overrides = None,
    processes: Processes = PROCESSES,
    slowed: Slowed = None,
    neighbours: Neighbours = False,
    json: Json = False,
    config_dir: ConfigDir = None,
) -> None:
    """Noise floor and anchors of this board, kept in the store for 30 days: every arm is measured against itself."""
    from reports.calibration import render_json, render_text
    from tuner.calibrate import AskedCalibration, run_calibrate

    asked = AskedCalibration(processes, tuple(slowed or ()), neighbours=neighbours)
    found = run_calibrate(settings_here(overrides, config_dir), asked)
    sys.stdout.write(render_json(found) if json else render_text(found))
