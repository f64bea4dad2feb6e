"""The first release that made attention slower."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from tuner.commands.comparing import Wheels, gated
from tuner.commands.options import ConfigDir, Json, Markdown, Overrides, refuse_two_forms

Distribution = Annotated[str, typer.Argument(metavar="DIST", help="as pip knows it, such as flashinfer-python")]
Good = Annotated[str, typer.Argument(metavar="GOOD", help="a release that every other one is compared with")]
Bad = Annotated[str, typer.Argument(metavar="BAD", help="a later one that is slower")]
UntilGood = Annotated[str | None, typer.Option("--until-good", metavar="VERSION", help="a later one: find the first that is cured of it")]
Releases = Annotated[
    str | None,
    typer.Option("--releases", metavar="A,B,...", help="these alone, not what the index has; VERSION=DIR for one that lies unpacked"),
]
Pre = Annotated[bool, typer.Option("--pre", help="pre-releases too")]


def bisect(
    distribution: Distribution,
    good: Good,
    bad: Bad,
    overrides: Overrides = None,
    until_good: UntilGood = None,
    releases: Releases = None,
    wheels: Wheels = None,
    pre: Pre = False,
    json: Json = False,
    markdown: Markdown = False,
    config_dir: ConfigDir = None,
) -> int:
    """The first release of a distribution with slower attention, by halves, each beside GOOD. Exit 1: found; 0: BAD is not slower;
    3: not to be told; 5: it answers wrongly. Broken off, the same command goes on."""
    from packaging.utils import canonicalize_name

    from reports.bisection import render_json, render_markdown, render_text
    from tuner.bisect import run_bisect
    from tuner.bisecting.releases import Asked

    refuse_two_forms(json, markdown)
    named = tuple(part.strip() for part in (releases or "").split(",") if part.strip())
    asked = Asked(canonicalize_name(distribution), good, bad, until_good, named, wheels, pre)
    found = run_bisect(asked, gated(overrides or []), config_dir)
    sys.stdout.write((render_json if json else render_markdown if markdown else render_text)(found))
    return found.exit_code
