"""Two environments against each other."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tuner.commands.options import ConfigDir, Explain, Json, Markdown, Overrides, refuse_two_forms

if TYPE_CHECKING:
    from store.verdicts.attribution import Attribution
    from tuner.compare import Compared


class Tuning(str, Enum):
    AS_SHIPPED = "as-shipped"
    PINNED = "pinned"


ENV = 'present (what is configured), an interpreter, "path:DIR[:DIR]", "name==version,..." or a command that ends in a Python'
Baseline = Annotated[str, typer.Option("--baseline", metavar="ENV", help=f"the old one: {ENV}")]
Candidate = Annotated[
    str, typer.Option("--candidate", metavar="ENV", help="the new one, written likewise; with:KEY=VALUE, other settings; or slowed:SHARE")
]
Wheels = Annotated[
    str | None, typer.Option("--wheels", metavar="DIR", help="wheels for name==version, in this folder where the worker runs")
]

Out = Annotated[
    Path | None, typer.Option("--out", metavar="DIR", help="writes comparison.md, its evidence and the command there, to be committed")
]
Attribute = Annotated[
    bool, typer.Option("--attribute", help="where several distributions differ, move one at a time and say which makes attention slower")
]
Pinned = Annotated[
    Tuning,
    typer.Option("--tuning", help="pinned: libraries that choose kernels by timing choose in the candidate as they did in the baseline"),
]
ObservedLoss = Annotated[
    float | None,
    typer.Option("--observed-loss", min=0.0001, max=0.9999, metavar="SHARE", help="of your own throughput (0.09): is it attention?"),
]


def compare(
    candidate: Candidate,
    baseline: Baseline = "present",
    overrides: Overrides = None,
    wheels: Wheels = None,
    json: Json = False,
    markdown: Markdown = False,
    explain: Explain = False,
    out: Out = None,
    attribute: Attribute = False,
    observed_loss: ObservedLoss = None,
    tuning: Pinned = Tuning.AS_SHIPPED,
    config_dir: ConfigDir = None,
) -> int:
    """Two environments in one sitting: is attention slower in the new one? Exit 0: no; 1: yes; 3: not to be told; 5: wrong answers."""
    refuse_two_forms(json, markdown)
    from tuner.compare import run_compare
    from tuner.comparing.env import env_of
    from tuner.comparing.recorded import refuse_unwritable, write_comparison

    if out is not None:
        refuse_unwritable(out)
    envs = (env_of(baseline), replace(env_of(candidate), pinned=tuning is Tuning.PINNED))
    words = gated(overrides or [])
    found, attribution = run_compare(envs, words, config_dir, wheels), None
    if out is not None:
        write_comparison(out, found.measured, config_dir)
    if attribute or observed_loss is not None:
        from tuner.attribute import run_attribute

        attribution = run_attribute(envs, found, words, config_dir, wheels, observed_loss)
    sys.stdout.write("\n".join(_told(found, attribution, json, markdown, explain)))
    return found.verdict.exit_code if attribution is None else attribution.exit_code


def _told(found: Compared, attribution: Attribution | None, json: bool, markdown: bool, explain: bool) -> Iterator[str]:
    """What is to be blamed comes before what it rests on."""
    from reports import attribution as blame
    from reports import side_by_side

    if json:
        whole = side_by_side.render_json(found.measured, found.verdict)
        yield whole if attribution is None else blame.render_json(whole, attribution)
    else:
        if attribution is not None:
            yield (blame.render_markdown if markdown else blame.render_text)(attribution)
        yield (side_by_side.render_markdown if markdown else side_by_side.render_text)(found.measured, found.verdict)
        if explain:
            yield side_by_side.render_explained(found.verdict)


def gated(overrides: list[str]) -> list[str]:
    """What compares versions takes `gate` unless told otherwise: `quick` claims no change before a calibration found the board calm."""
    return overrides if any(override.startswith("measure=") for override in overrides) else ["measure=gate", *overrides]
