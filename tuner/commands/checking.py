"""Do pins still hold, where they serve or in an image that is to serve?"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tuner.commands.options import ConfigDir, Json, Markdown, Overrides, PinFile, pin_path_of, refuse_two_forms, settings_here, settings_of
from tuner.errors import GRAVITY, UsageError, worst

if TYPE_CHECKING:
    from store.verdicts.checked import Checked
    from store.verdicts.verdict import Verdict
    from tuner.checking.with_gpu import Request

Pins = Annotated[str | None, typer.Option("--pins", metavar="DIR", help="every pin in a folder, instead of --pin")]
Packages = Annotated[
    str | None,
    typer.Option("--packages", metavar="FILE", help="judge an image by a list of its packages: pip freeze, pip inspect or an SBOM"),
]
Page = Annotated[Path | None, typer.Option("--html", metavar="FILE", help="the answer as a page, too; with --pins a page of all of them")]
Wheels = Annotated[
    str | None, typer.Option("--wheels", metavar="DIR", help="the old versions from this folder, where the worker runs, not from an index")
]


def check(
    overrides: Overrides = None,
    pin: PinFile = None,
    pins: Pins = None,
    packages: Packages = None,
    fast: Annotated[bool, typer.Option("--fast", help="measure nothing: what moved, and what is known of it")] = False,
    write: Annotated[bool, typer.Option("--write", help="write the pin anew with what is measured today")] = False,
    no_confirm: Annotated[bool, typer.Option("--no-confirm", help="stored times alone, never both versions side by side")] = False,
    wheels: Wheels = None,
    html: Page = None,
    json: Json = False,
    markdown: Markdown = False,
    config_dir: ConfigDir = None,
) -> int:
    """Has anything under the pin changed, and if so, does it still hold? With model=hf model.path=CHECKPOINT also its config.json.
    Exit 0: it holds; 1: slower, or (without measuring) a pinned flag or a release is known bad; 3: not to be told; 5: wrong answers."""
    refuse_two_forms(json, markdown)
    unmeasured = fast or packages is not None
    if unmeasured and (write or wheels or no_confirm):
        option = "--write" if write else "--wheels" if wheels else "--no-confirm"
        raise UsageError(f"{option} is for a check that measures; leave {'--fast' if fast else '--packages'} out")
    if html is not None:
        _refuse_page(html, drawn=pins is None and not unmeasured)
    paths = _paths(overrides, config_dir, pin, pins)
    answers: Sequence[Checked | Verdict]
    if not unmeasured:
        from tuner.checking.with_gpu import Request

        answers = _measured([Request(path, write, not no_confirm, wheels) for path in paths], overrides, config_dir, json, markdown)
    else:
        answers = _fast(paths, overrides, config_dir) if packages is None else _listed(paths, packages, overrides, config_dir)
        sys.stdout.write(_rendered(answers, json, markdown))
    _sum_up(answers, html, silent=json or markdown, one=pins is None)
    return worst(found.exit_code for found in answers)


def _refuse_page(page: Path, drawn: bool) -> None:
    """Before anything is measured. ``drawn``: it may have plots."""
    from store.files import destination
    from tuner.pinning.place import refuse_folder
    from tuner.report_page import refuse_undrawn

    refuse_folder(f"--html {page}", destination(page))
    if drawn:
        refuse_undrawn(page)


def _sum_up(answers: Sequence[Checked | Verdict], page: Path | None, silent: bool, one: bool) -> None:
    """Of several a table below the answers; and a page."""
    from reports import checked_many

    if len(answers) > 1 and not silent:
        sys.stdout.write(f"\n{checked_many.render_text(answers)}")
    if page is not None and one:
        from reports.web.check_page import check_page
        from tuner.report_page import write

        write(lambda: check_page(answers[0]), page)
    elif page is not None:
        from store.files import write_together

        write_together([(page, checked_many.render_html(answers, page.parent).encode())])


def _measured(asked: list[Request], overrides: list[str] | None, config_dir: str | None, json: bool, markdown: bool) -> list[Checked]:
    """Each pin's answer as soon as it is there, but for the one comment that Markdown is."""
    from reports.checked import render_json, render_markdown, render_text
    from tuner.checking.many import each_of, unchecked
    from tuner.checking.with_gpu import check_measured

    settings, requests = settings_here(overrides, config_dir), {each.path: each for each in asked}
    answers: list[Checked] = []
    for found in each_of(list(requests), lambda path: check_measured(requests[path], settings), unchecked):
        answers.append(found)
        if not markdown:
            sys.stdout.write((render_json if json else render_text)(found))
            sys.stdout.flush()
    if markdown:
        sys.stdout.write(render_markdown(sorted(answers, key=lambda found: GRAVITY.index(found.exit_code))))
    return answers


def _paths(overrides: list[str] | None, config_dir: str | None, pin: str | None, pins: str | None) -> tuple[Path, ...]:
    from tuner.pinning.pins_in import pins_in

    if pins is None:
        return (pin_path_of(overrides, config_dir, pin),)
    if pin is not None:
        raise UsageError(f"--pin {pin} names one pin and --pins {pins} a folder of them; give one of the two")
    return pins_in(Path(pins))


def _fast(paths: tuple[Path, ...], overrides: list[str] | None, config_dir: str | None) -> tuple[Verdict, ...]:
    from tuner.check import check_fast
    from tuner.checking.many import each_of, unreadable

    settings = settings_of(overrides, config_dir)
    return tuple(each_of(paths, lambda path: check_fast(path, settings), unreadable))


def _listed(paths: tuple[Path, ...], packages: str, overrides: list[str] | None, config_dir: str | None) -> tuple[Verdict, ...]:
    """The engine is asked where it is said how to reach the one in the image; nothing is composed where nothing is overridden."""
    from tuner.checking.packages import check_packages

    settings = settings_of(overrides, config_dir) if overrides else None
    if settings is None or not (settings.scenario.engine.command or settings.scenario.engine.path):
        return check_packages(paths, packages, config_dir)
    from tuner.unmeasured.asking import engine_asked

    with engine_asked(settings) as ask:
        return check_packages(paths, packages, config_dir, ask)


def _rendered(verdicts: tuple[Verdict, ...], json: bool, markdown: bool) -> str:
    from reports.verdict import render_json, render_text

    if markdown:
        from reports.verdict_markdown import render_markdown

        return render_markdown(verdicts)
    return "".join(map(render_json if json else render_text, verdicts))
