"""What was measured before."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from tuner.boundary import say
from tuner.commands.options import ConfigDir, Explain, Json, Markdown, Overrides, PinFile, names_pin, pin_path_of, settings_of

if TYPE_CHECKING:
    from store.run import Run


def report(
    overrides: Overrides = None,
    run_id: Annotated[str | None, typer.Option("--run", metavar="ID", help="a stored run; default: the newest that was decided")] = None,
    pin: PinFile = None,
    markdown: Markdown = False,
    json: Json = False,
    explain: Explain = False,
    config_dir: ConfigDir = None,
) -> None:
    """One run, whole, from the store or from the evidence beside a pin."""
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


def history(overrides: Overrides = None, json: Json = False, config_dir: ConfigDir = None) -> None:
    """The runs in the store, newest first."""
    from reports.run_list import render, render_json
    from tuner.stored import runs_in

    runs = runs_in(settings_of(overrides, config_dir).store_url)
    sys.stdout.write(render_json(runs) if json else render(runs))
