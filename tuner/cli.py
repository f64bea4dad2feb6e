"""The command line. Every command is a thin function that imports what it needs when it is called, so that --help is quick."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tuner import completion
from tuner.boundary import guarded, say
from tuner.errors import INTERRUPTED, UsageError

if TYPE_CHECKING:
    from tuner.settings import Settings

COMMANDS = ("plan", "tune", "check", "export", "report", "history")
HELP = {"--help", "-h", "--hydra-help"}

Overrides = Annotated[list[str] | None, typer.Argument(metavar="[key=value]...", help="as for tune, e.g. model=qwen3_8b gpu=h200")]
PinFile = Annotated[str | None, typer.Option("--pin", metavar="FILE", help="the pin (the same as pin.path=FILE)")]
ConfigDir = Annotated[str | None, typer.Option("--config-dir", "-cd", metavar="DIR", help="a folder with more configuration groups")]
Json = Annotated[bool, typer.Option("--json", help="data instead of text")]

app = typer.Typer(
    rich_markup_mode=None,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def run(arguments: Sequence[str]) -> int:
    """The exit code of one command line."""
    debug, rest = without_debug(arguments)
    return guarded(lambda: _dispatch(rest, debug), debug)


def without_debug(arguments: Sequence[str]) -> tuple[bool, list[str]]:
    """Takes --debug out, wherever it stands before a bare `--`."""
    end = list(arguments).index("--") if "--" in arguments else len(arguments)
    ours, theirs = list(arguments[:end]), list(arguments[end:])
    return "--debug" in ours, [word for word in ours if word != "--debug"] + theirs


def _dispatch(arguments: list[str], debug: bool) -> int | None:
    if completion.asked(arguments):
        if completion.prepare(COMMANDS):
            return None
        arguments = ["tune", *(word for word in arguments if word not in COMMANDS)]
    if not HELP.intersection(arguments):
        from tuner.ownership import refuse_foreign_modules

        refuse_foreign_modules()
    code: int | None = app(args=arguments or ["--help"], standalone_mode=False, prog_name="attnpin", obj=debug)
    if code == INTERRUPTED:  # what Typer makes of Ctrl-C
        raise KeyboardInterrupt
    return code


def _version(asked: bool) -> None:
    if asked:
        from tuner.version import __version__

        print(f"attnpin {__version__}")
        raise typer.Exit()


@app.callback()
def attnpin(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="print the version")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="tracebacks of faults; may stand anywhere")] = False,
) -> None:
    """Measures the attention backends a serving engine could use on this GPU and pins the winner, with the reason."""


@app.command()
def plan(overrides: Overrides = None, json: Json = False, config_dir: ConfigDir = None) -> None:
    """What the engine would pick, what may run and what may not and why, what a run would cost. Needs no GPU."""
    from reports.plan import render_json, render_text
    from tuner.plan import make_plan

    made = make_plan(_settings(overrides, config_dir))
    sys.stdout.write(render_json(made) if json else render_text(made))


@app.command(
    add_help_option=False,
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True, "allow_interspersed_args": False},
)
def tune(context: typer.Context) -> int:
    """The whole job: measure, decide, write the pin. A Hydra application: --cfg job, --info, --multirun, --help."""
    from tuner import hydra_app

    return hydra_app.run(context.args, _tune, debug=bool(context.obj))


@app.command()
def check(
    overrides: Overrides = None,
    pin: PinFile = None,
    fast: Annotated[bool, typer.Option("--fast", help="compare versions and board only, measure nothing")] = False,
    json: Json = False,
    config_dir: ConfigDir = None,
) -> int:
    """Has anything under the pin changed? Exit 0: no; 3: yes, measure again."""
    if not fast:
        raise UsageError("check without --fast would measure, which this version cannot; add --fast, or measure anew with `attnpin tune`")
    from reports.verdict import render_json, render_text
    from tuner.check import check_fast

    settings = _settings(overrides, config_dir, pin)
    verdict = check_fast(settings.pin_path, settings.scenario.engine)
    sys.stdout.write(render_json(verdict) if json else render_text(verdict))
    return verdict.exit_code


@app.command()
def export(
    to: Annotated[str, typer.Option("--to", metavar="LAUNCHER", help="sglang, sglang-yaml, env, json, or one of --config-dir")],
    overrides: Overrides = None,
    pin: PinFile = None,
    as_hint: Annotated[bool, typer.Option("--as-hint", help="commented out, also for another engine than the pin's")] = False,
    config_dir: ConfigDir = None,
) -> None:
    """The pin's flags as a launcher wants them, each with its reason."""
    from reports.export import export as rendered
    from reports.launchers.launcher import ExportError
    from store.pin_files import read_pin
    from tuner.launchers import launcher_for, load_launchers

    made, launcher = read_pin(_pin_path(overrides, config_dir, pin)), launcher_for(to, load_launchers(config_dir))
    try:
        exported = rendered(made, launcher, as_hint)
    except ExportError as error:
        raise UsageError(str(error)) from error
    for note in exported.notes:
        say(note)
    sys.stdout.write(exported.text)


@app.command()
def report(
    overrides: Overrides = None,
    run_id: Annotated[str | None, typer.Option("--run", metavar="ID", help="a stored run; default: the newest")] = None,
    pin: PinFile = None,
    markdown: Annotated[bool, typer.Option("--md", help="Markdown instead of plain text")] = False,
    json: Json = False,
    config_dir: ConfigDir = None,
) -> None:
    """One run, whole, from the store or from the evidence beside a pin."""
    from reports.run_report import render_json, render_markdown, render_text
    from tuner.stored import run_from_pin, run_from_store

    if run_id is None and _names_pin(overrides, pin):
        run = run_from_pin(_pin_path(overrides, config_dir, pin))
    else:
        run = run_from_store(_settings(overrides, config_dir).store_url, run_id)
    render = render_json if json else render_markdown if markdown else render_text
    sys.stdout.write(render(run))


@app.command()
def history(overrides: Overrides = None, json: Json = False, config_dir: ConfigDir = None) -> None:
    """The runs in the store, newest first."""
    from reports.run_list import render, render_json
    from tuner.stored import runs_in

    runs = runs_in(_settings(overrides, config_dir).store_url)
    sys.stdout.write(render_json(runs) if json else render(runs))


def _settings(overrides: list[str] | None, config_dir: str | None, pin: str | None = None) -> Settings:
    from tuner.settings import compose, pin_override

    return compose([*(overrides or ()), *([] if pin is None else [pin_override(pin)])], config_dir)


def _names_pin(overrides: list[str] | None, pin: str | None) -> bool:
    return pin is not None or any(override.startswith("pin.path=") for override in overrides or ())


def _pin_path(overrides: list[str] | None, config_dir: str | None, pin: str | None) -> Path:
    """Without overrides there is nothing to compose, which takes longer than the rest of such a command."""
    return Path(pin) if pin is not None and not overrides else _settings(overrides, config_dir, pin).pin_path


def _tune(settings: Settings) -> int:
    from tuner.pin_place import refuse_unwritable
    from tuner.tune import run_tune

    refuse_unwritable(settings.pin_path)
    return run_tune(settings)
