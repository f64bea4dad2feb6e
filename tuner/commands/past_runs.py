"""What was measured before."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tuner.command_line.boundary import say
from tuner.commands.options import (
    ConfigDir,
    Explain,
    Json,
    Markdown,
    Overrides,
    PinFile,
    named_run,
    names_pin,
    pin_path_of,
    refuse_two_forms,
    settings_of,
)
from tuner.errors import OK, UsageError, worst

if TYPE_CHECKING:
    from reports.web.page import WebPage
    from store.runs.run import Run
    from tuner.past.asking import Asked

LISTED = 100


def report(
    overrides: Overrides = None,
    run_id: Annotated[str | None, typer.Option("--run", metavar="ID", help="a stored run; default: the newest that was decided")] = None,
    pin: PinFile = None,
    comparison: Annotated[
        Path | None, typer.Option("--comparison", metavar="FILE", help="what compare --out wrote: its evidence, or the folder")
    ] = None,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="one page for a browser, which needs nothing beside it; - = printed")
    ] = None,
    markdown: Markdown = False,
    json: Json = False,
    explain: Explain = False,
    config_dir: ConfigDir = None,
) -> None:
    """One run or comparison, whole, from the store, from the evidence beside a pin, or from that of a comparison."""
    refuse_two_forms(json, markdown)
    if comparison is not None and (run_id is not None or names_pin(overrides, pin)):
        raise UsageError("--comparison, --run and --pin each name what to report; give one of them")
    if html is not None and (markdown or json or explain):
        raise UsageError("--html is a page of its own; leave out --md, --json and --explain")
    if html is not None:
        return _page(html, overrides, run_id, pin, comparison, config_dir)
    if comparison is not None:
        sys.stdout.write(_compared(comparison, markdown, json, explain, config_dir))
        return None
    run, newer = named_run(overrides, run_id, pin, config_dir)
    if newer is not None:
        say(newer)
    sys.stdout.write(_explained(run, markdown, json) if explain else _reported(run, markdown, json))
    return None


def _page(
    out: Path, overrides: list[str] | None, run_id: str | None, pin: str | None, comparison: Path | None, config_dir: str | None
) -> None:
    from tuner import report_page

    def page() -> WebPage:
        if comparison is not None:
            return report_page.of_comparison(comparison, config_dir)
        if names_pin(overrides, pin) and run_id is None:
            return report_page.of_pin(pin_path_of(overrides, config_dir, pin))
        run, newer = named_run(overrides, run_id, pin, config_dir)
        if newer is not None:
            say(newer)
        return report_page.of_stored(run)

    report_page.write(page, out)


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
    comparison: Annotated[
        list[Path] | None,
        typer.Option("--comparison", metavar="DIR", help="out of what compare --out wrote, not the store; several may be given"),
    ] = None,
    pin: Annotated[
        str | None, typer.Option("--pin", metavar="FILE", help="with --cell and --arm: held against this pin's own run, not the first")
    ] = None,
    last: Annotated[int | None, typer.Option("--last", metavar="N", min=0, help=f"how many runs; 0 = all; default: {LISTED}")] = None,
    json: Json = False,
    config_dir: ConfigDir = None,
) -> int:
    """The runs in the store, newest first; with --cell and --arm that arm's time over versions and dates on one board, each point held
    against the first, or against a pin. Exit 0: the last one is no slower; 1: it is; 3: not to be told."""
    if last is not None and (cell or arm):
        raise UsageError("--last is for the list of runs; leave it out beside --cell and --arm")
    if cell and arm:
        from tuner.past.asking import Asked

        pinned = named_run(overrides, None, pin, config_dir)[0] if names_pin(overrides, pin) else None
        return _courses(overrides, Asked(tuple(arm), cell, over, pinned), comparison or (), plot, json, config_dir)
    if cell or arm or over or plot or comparison or pin:
        raise UsageError(
            "--cell and --arm belong together, and --over, --plot, --comparison and --pin to them; attnpin history alone lists the runs"
        )
    from reports.run_list import render, render_json
    from tuner.past.stored import runs_in

    runs, more = runs_in(settings_of(overrides, config_dir).store_url, (LISTED if last is None else last) or None)
    if more is not None:
        say(more)
    sys.stdout.write(render_json(runs) if json else render(runs))
    return OK


def _courses(
    overrides: list[str] | None, asked: Asked, comparisons: Sequence[Path], picture: Path | None, json: bool, config_dir: str | None
) -> int:
    from reports.course import render_json, render_text
    from tuner.past.asking import courses_in, in_files, in_store, plot

    settings = settings_of(overrides, config_dir)
    source = in_files(comparisons) if comparisons else in_store(settings.store_url)
    found = courses_in(source, settings, overrides or (), asked)
    if picture is not None:
        plot(found, picture)
    sys.stdout.write((render_json if json else render_text)(found))
    return worst(course.exit_code for course in found)
