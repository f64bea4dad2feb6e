"""With a pin in hand: how does a launcher want it, and what became of it?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from tuner.command_line.boundary import say
from tuner.commands.options import ConfigDir, Json, Markdown, Overrides, PinFile, pin_path_of, refuse_two_forms
from tuner.errors import UsageError


def export(
    to: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="LAUNCHER",
            help="sglang, sglang-yaml, env, systemd, compose, kubernetes, slurm, auto-benchmark, vllm, vllm-yaml, json, constraints, "
            "or of --config-dir",
        ),
    ],
    overrides: Overrides = None,
    pin: PinFile = None,
    merge: Annotated[
        Path | None, typer.Option("--merge", metavar="FILE", help="into this YAML file, which else stays as it is; prints the change")
    ] = None,
    at: Annotated[
        list[str] | None, typer.Option("--at", metavar="PLACE", help="with --merge: where, as services.NAME.command; may be repeated")
    ] = None,
    replace: Annotated[bool, typer.Option("--replace", help="with --merge: over keys that attnpin did not write")] = False,
    as_hint: Annotated[bool, typer.Option("--as-hint", help="commented out, also for another engine than the pin's")] = False,
    config_dir: ConfigDir = None,
) -> None:
    """The pin's flags as a launcher wants them, each with its reason; or what pip and uv must hold (--to constraints).
    Exit 2: not to be had; with --merge also a key of yours that says otherwise, and the file is left alone."""
    if merge is None and (at or replace):
        raise UsageError(f"{'--at' if at else '--replace'} belongs to --merge FILE, which edits a file; give that too")
    if merge is not None and as_hint:
        raise UsageError("--as-hint is commented out and --merge sets keys; give one of them")
    from reports.export import export as rendered
    from reports.launchers.launcher import ExportError
    from tuner.exporting.exportable import exportable
    from tuner.exporting.launchers import launcher_for, load_launchers
    from tuner.exporting.merge_into import merge_into, mergeable

    launchers = load_launchers(config_dir)
    launcher = launcher_for(to, launchers)
    made, said = exportable(pin_path_of(overrides, config_dir, pin), launcher.engine, as_hint)
    if merge is not None:
        mergeable(launcher, tuple(launchers.values()))
    try:
        exported = rendered(made, launcher, as_hint) if merge is None else merge_into(merge, made, launcher, at or (), replace)
    except ExportError as error:
        raise UsageError(str(error)) from error
    for note in (*said, *exported.notes):
        say(note)
    sys.stdout.write(exported.text)


def diff(
    old: Annotated[Path, typer.Argument(metavar="OLD", help="the pin as it was, its evidence beside it")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="the pin as it is")],
    markdown: Markdown = False,
    json: Json = False,
) -> None:
    """What became of a pin: flags, reasons, versions, times. From the files alone, without GPU or database.
    Exit 0: whatever differs; 2: a file is no pin."""
    refuse_two_forms(json, markdown)
    from reports.pin_diff import render_json, render_markdown, render_text
    from tuner.diff import diff as differing

    found = differing(old, new)
    sys.stdout.write((render_json if json else render_markdown if markdown else render_text)(found))
