"""Two environments against each other."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from tuner.commands.options import ConfigDir, Explain, Json, Markdown, Overrides

ENV = 'present, an interpreter, "path:DIR[:DIR]", "name==version,..." or a command that ends in a Python'
Baseline = Annotated[str, typer.Option("--baseline", metavar="ENV", help=f"the old one: {ENV}")]
Candidate = Annotated[
    str, typer.Option("--candidate", metavar="ENV", help="the new one, written likewise; or with:KEY=VALUE, other settings")
]
Wheels = Annotated[
    str | None, typer.Option("--wheels", metavar="DIR", help="name==version from this folder, where the worker runs, not from an index")
]


def compare(
    candidate: Candidate,
    baseline: Baseline = "present",
    overrides: Overrides = None,
    wheels: Wheels = None,
    json: Json = False,
    markdown: Markdown = False,
    explain: Explain = False,
    config_dir: ConfigDir = None,
) -> int:
    """Two environments in one sitting: is attention slower in the new one? Exit 0: no; 1: yes; 3: not to be told; 5: wrong answers."""
    from reports.side_by_side import render_explained, render_json, render_markdown, render_text
    from tuner.compare import run_compare
    from tuner.comparing.env import env_of

    found = run_compare((env_of(baseline), env_of(candidate)), gated(overrides or []), config_dir, wheels)
    if json:
        sys.stdout.write(render_json(found.measured, found.verdict))
    else:
        sys.stdout.write((render_markdown if markdown else render_text)(found.measured, found.verdict))
        if explain:
            sys.stdout.write(f"\n{render_explained(found.verdict)}")
    return found.verdict.exit_code


def gated(overrides: list[str]) -> list[str]:
    """`quick` looks once, which finds large changes alone; what compares versions takes `gate` unless told otherwise."""
    return overrides if any(override.startswith("measure=") for override in overrides) else ["measure=gate", *overrides]
