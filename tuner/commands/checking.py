"""Do pins still hold, where they serve or in an image that is to serve?"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tuner.commands.options import ConfigDir, Json, Markdown, Overrides, PinFile, pin_path_of, settings_of
from tuner.errors import UsageError, worst

if TYPE_CHECKING:
    from store.verdict import Verdict

Pins = Annotated[str | None, typer.Option("--pins", metavar="DIR", help="every pin in a folder, instead of --pin")]
Packages = Annotated[
    str | None,
    typer.Option("--packages", metavar="FILE", help="judge an image by a list of its packages: pip freeze, pip inspect or an SBOM"),
]


def check(
    overrides: Overrides = None,
    pin: PinFile = None,
    pins: Pins = None,
    packages: Packages = None,
    fast: Annotated[bool, typer.Option("--fast", help="compare versions and board only, measure nothing")] = False,
    json: Json = False,
    markdown: Markdown = False,
    config_dir: ConfigDir = None,
) -> int:
    """Has anything under the pin changed? With model=hf model.path=CHECKPOINT also its config.json. Exit 0: no; 3: yes, measure again;
    1: a pinned flag is refused or means something else now, or a release with a known fault is on the pin's path."""
    if packages is None and not fast:
        raise UsageError("check without --fast would measure, which this version cannot; add --fast, or measure anew with `attnpin tune`")
    if json and markdown:
        raise UsageError("--json and --md are two forms of one answer; give one of them")
    paths = _paths(overrides, config_dir, pin, pins)
    verdicts = _fast(paths, overrides, config_dir) if packages is None else _listed(paths, packages, overrides, config_dir)
    sys.stdout.write(_rendered(verdicts, json, markdown))
    return worst(verdict.exit_code for verdict in verdicts)


def _paths(overrides: list[str] | None, config_dir: str | None, pin: str | None, pins: str | None) -> tuple[Path, ...]:
    from tuner.pins_in import pins_in

    if pins is None:
        return (pin_path_of(overrides, config_dir, pin),)
    if pin is not None:
        raise UsageError(f"--pin {pin} names one pin and --pins {pins} a folder of them; give one of the two")
    return pins_in(Path(pins))


def _fast(paths: tuple[Path, ...], overrides: list[str] | None, config_dir: str | None) -> tuple[Verdict, ...]:
    from tuner.check import check_fast

    settings = settings_of(overrides, config_dir)
    if len(paths) == 1:
        return (check_fast(paths[0], settings),)
    return tuple(replace(check_fast(path, settings), pin=str(path)) for path in paths)


def _listed(paths: tuple[Path, ...], packages: str, overrides: list[str] | None, config_dir: str | None) -> tuple[Verdict, ...]:
    """The engine is asked where it is said how to reach the one in the image; nothing is composed where nothing is overridden."""
    from tuner.check_packages import check_packages

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
