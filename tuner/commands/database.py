"""What the store holds, out of it and into it: for another machine, from a colleague, for everybody."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tuner.commands.options import ConfigDir, Json, Overrides, PinFile, named_run, settings_of

if TYPE_CHECKING:
    from store.exchange.items import Exchanged

db = typer.Typer(no_args_is_help=True, help="The store's runs to a file and back, and two stores into one.")

Trust = Annotated[
    bool, typer.Option("--trust", help="you vouch for it: it counts as measured here, calibrations and machine code of anchors too")
]


@db.command("export")
def export_runs(
    file: Annotated[Path, typer.Argument(metavar="FILE", help=".jsonl, .jsonl.zst or .parquet (needs pyarrow)")],
    overrides: Overrides = None,
    json: Json = False,
    config_dir: ConfigDir = None,
) -> None:
    """All runs, comparisons and calibrations with every sample, each with its digest and where it came from.
    Hosts and paths stand in it: contribute is for giving away."""
    from tuner.exchange import export_to

    _say(export_to(file, settings_of(overrides, config_dir).store_url), json)


@db.command("import")
def import_runs(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="what db export wrote, or the evidence of a pin")],
    overrides: Overrides = None,
    trust: Trust = False,
    json: Json = False,
    config_dir: ConfigDir = None,
) -> None:
    """Takes in what the store has not. Nothing in a file proves who measured it, so it is foreign: it informs plans, never a pin.
    Exit 2: the file is not whole, and nothing was taken."""
    from tuner.exchange import import_from

    _say(import_from(file, settings_of(overrides, config_dir).store_url, trust), json)


@db.command("merge")
def merge_stores(
    other: Annotated[str, typer.Argument(metavar="OTHER", help="a SQLite file or a database URL; it stays as it is")],
    overrides: Overrides = None,
    trust: Trust = False,
    json: Json = False,
    config_dir: ConfigDir = None,
) -> None:
    """Takes in what another store has and this one has not; twice is once."""
    from tuner.exchange import merge_from

    _say(merge_from(other, settings_of(overrides, config_dir).store_url, trust), json)


def contribute(
    overrides: Overrides = None,
    run_id: Annotated[str | None, typer.Option("--run", metavar="ID", help="a stored run; default: the newest that was decided")] = None,
    pin: PinFile = None,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="where the file is written")] = Path("."),
    hide: Annotated[list[str] | None, typer.Option("--hide", metavar="WORD", help="must not stand in it either; may be repeated")] = None,
    config_dir: ConfigDir = None,
) -> None:
    """Packs the evidence of a run for a public corpus, without hosts, paths, accounts or the board's number, and says what it tells.
    Nothing is sent. Exit 2: something in it would still tell where it ran."""
    from reports.contribution import render
    from tuner.contribute import pack

    run, _ = named_run(overrides, run_id, pin, config_dir)
    packed = pack(run, out, tuple(hide or ()))
    sys.stdout.write(render(packed.file, packed.size_bytes, packed.run))


def _say(found: Exchanged, json: bool) -> None:
    from reports.exchanged import render_json, render_text

    sys.stdout.write((render_json if json else render_text)(found))
