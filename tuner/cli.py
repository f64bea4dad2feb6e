"""The command line: which words there are, and what leads to them. What they do is in `tuner.commands`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Annotated

import typer
from typer import TyperException

from tuner.command_line import completion
from tuner.command_line.boundary import guarded, sentence
from tuner.commands import (
    auditing,
    bisecting,
    calibrating,
    checking,
    comparing,
    confirming,
    database,
    knowledge,
    measuring,
    past_runs,
    pins,
    serving,
    triaging,
)
from tuner.errors import INTERRUPTED, UsageError

COMMANDS = (
    *("plan", "tune", "check", "audit", "compare", "bisect", "calibrate", "export", "diff", "confirm", "verify", "triage", "launch"),
    *("report", "history", "db", "contribute", "limits", "doctor", "demo"),
)
HELP = {"--help", "-h", "--hydra-help"}
HYDRA_S_OWN = {"ignore_unknown_options": True, "allow_extra_args": True, "allow_interspersed_args": False}

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
        from tuner.command_line.ownership import refuse_foreign_modules

        refuse_foreign_modules()
    with _named(arguments):
        code: int | None = app(args=arguments or ["--help"], standalone_mode=False, prog_name="attnpin", obj=debug)
    if code == INTERRUPTED:  # what Typer makes of Ctrl-C
        raise KeyboardInterrupt
    return code


@contextmanager
def _named(arguments: Sequence[str]) -> Iterator[None]:
    """Of a value that is missing Typer does not say which command lacks it, and of one that is out of bounds not what it is."""
    try:
        yield
    except TyperException as error:
        if getattr(error, "ctx", None) is None and arguments:
            within = len(arguments) > 1 and arguments[0] == "db" and not arguments[1].startswith("-")
            words = " ".join(["attnpin", *arguments[: 1 + within]])
            raise UsageError(f"{error.format_message().rstrip()} (see `{words} --help`)") from error
        options = getattr(getattr(error, "param", None), "opts", ())
        if (value := _typed(arguments, options)) is not None:
            said = sentence(error).replace("Invalid value for", f"Invalid value {value!r} for").replace("Value error, ", "")
            raise UsageError(said) from error
        raise


def _typed(arguments: Sequence[str], options: Collection[str]) -> str | None:
    """The value that one of ``options`` was given, "--each N" or "--each=N"."""
    for word, following in pairwise([*arguments, ""]):
        option, _, value = word.partition("=")
        if option in options:
            return value or following
    return None


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


app.command()(measuring.plan)
app.command(add_help_option=False, context_settings=HYDRA_S_OWN)(measuring.tune)
app.command()(checking.check)
app.command()(auditing.audit)
app.command()(comparing.compare)
app.command()(bisecting.bisect)
app.command()(calibrating.calibrate)
app.command()(pins.export)
app.command()(pins.diff)
app.command(context_settings={"allow_interspersed_args": False})(confirming.confirm)
app.command()(serving.verify)
app.command()(triaging.triage)
app.command(context_settings={"allow_interspersed_args": False})(serving.launch)
app.command()(past_runs.report)
app.command()(past_runs.history)
app.add_typer(database.db, name="db")
app.command()(database.contribute)
app.command()(knowledge.limits)
app.command()(knowledge.doctor)
app.command()(measuring.demo)
