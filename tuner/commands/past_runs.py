"""What was measured before."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tuner.boundary import say
from tuner.commands.options import ConfigDir, Explain, Json, Markdown, Overrides, PinFile, names_pin, pin_path_of, settings_of
from tuner.errors import OK, UsageError, worst

if TYPE_CHECKING:
    from store.run import Run


def report(
    overrides: Overrides = None,
    run_id: Annotated[str | None, typer.Option("--run", metavar="ID", help="a stored run; default: the newest that was decided")] = None,
    pin: PinFile = None,
    comparison: Annotated[
        Path | None, typer.Option("--comparison", metavar="FILE", help="what compare --out wrote: its evidence, or the folder")
    ] = None,
    markdown: Markdown = False,
    json: Json = False,
    explain: Explain = False,
    config_dir: ConfigDir = None,
) -> None:
    """One run or comparison, whole, from the store, from the evidence beside a pin, or from that of a comparison."""
    if comparison is not None and (run_id is not None or names_pin(overrides, pin)):
        raise UsageError("--comparison, --run and --pin each name what to report; give one of them")
    if comparison is not None:
        sys.stdout.write(_compared(comparison, markdown, json, explain, config_dir))
        return
    from tuner.stored import run_from_pin, run_from_store

    if run_id is None and names_pin(overrides, pin):
        run = run_from_pin(pin_path_of(overrides, config_dir, pin))
    else:
        run, newer = run_from_store(settings_of(overrides, config_dir).store_url, run_id)
        if newer is not None:
            say(newer)
    sys.stdout.write(_explained(run, markdown, json) if explain else _reported(run, markdown, json))


def _reported(run: Run, markdown: bool, json: bool) -> str:
    from reports.run_report import render_json, render_markdown, render_text

    return (render_json if json else render_markdown if markdown else render_text)(run)


def _explained(run: Run, markdown: bool, json: bool) -> str:
    from reports.explanation import render_json, render_markdown, render_text
    from tuner.auditing.verdict import scenario_run
    from tuner.deciding.explanation import explain as explanations

    decided = scenario_run(run)  # an audit was decided without the cells of its reasons
    return (render_json if json else render_markdown if markdown else render_text)(explanations(decided))


def _compared(path: Path, markdown: bool, json: bool, explain: bool, config_dir: str | None) -> str:
    from reports.side_by_side import render_explained, render_json, render_markdown, render_text
    from tuner.comparing.recorded import judged, recorded

    measured = recorded(path)
    verdict = judged(measured, config_dir)
    if explain:
        return render_explained(verdict)
    return (render_json if json else render_markdown if markdown else render_text)(measured, verdict)


def history(
    overrides: Overrides = None,
    cell: Annotated[str | None, typer.Option("--cell", metavar="CELL", help="with --arm: its time since the first measurement")] = None,
    arm: Annotated[list[str] | None, typer.Option("--arm", metavar="ARM", help="with --cell; several may be given")] = None,
    over: Annotated[
        str | None, typer.Option("--over", metavar="DISTRIBUTION", help="in the order of its versions instead of dates")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help="a picture too: .svg, .png or .pdf (needs matplotlib)")
    ] = None,
    json: Json = False,
    config_dir: ConfigDir = None,
) -> int:
    """The runs in the store, newest first; with --cell and --arm that arm's time over versions and dates on one board, each point held
    against the first. Exit 0: the last one is no slower; 1: it is; 3: not to be told."""
    if cell and arm:
        return _courses(overrides, cell, arm, over, plot, json, config_dir)
    if cell or arm or over or plot:
        raise UsageError("--cell and --arm belong together, and --over and --plot to them; attnpin history alone lists the runs")
    from reports.run_list import render, render_json
    from tuner.stored import runs_in

    runs = runs_in(settings_of(overrides, config_dir).store_url)
    sys.stdout.write(render_json(runs) if json else render(runs))
    return OK


def _courses(
    overrides: list[str] | None, cell: str, arms: list[str], over: str | None, picture: Path | None, json: bool, config_dir: str | None
) -> int:
    from reports.course import render_json, render_text
    from tuner.past.asking import courses_in, plot

    found = courses_in(settings_of(overrides, config_dir), overrides or (), arms, cell, over)
    if picture is not None:
        plot(found, picture)
    sys.stdout.write((render_json if json else render_text)(found))
    return worst(course.exit_code for course in found)
