"""A server and a pin: start the one with the other, and see whether it took it."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Annotated

import typer

from tuner.commands.options import ConfigDir, Json
from tuner.errors import UsageError
from tuner.launching.on_stale import OnStale
from tuner.verifying.patience import WITHIN_S

OVERRIDE = re.compile(r"[~+]{0,2}[\w./@-]+=.*", re.DOTALL)
Logs = Annotated[
    list[str] | None,
    typer.Option("--log", metavar="FILE", help="its log, gzipped or not, older parts beside it included; - reads a pipe; one a server"),
]


def verify(
    pin: Annotated[str, typer.Option("--pin", metavar="FILE", help="the pin")],
    log: Logs = None,
    url: Annotated[str | None, typer.Option("--url", metavar="URL", help="where it serves, instead of --log")] = None,
    follow: Annotated[bool, typer.Option("--follow", help="wait until it has started")] = False,
    within: Annotated[float, typer.Option("--within", metavar="SECONDS", min=0, help="with --follow: no longer")] = WITHIN_S,
    json: Json = False,
) -> int:
    """Did a running server take the pin? By its log or by its own answer: backends of both phases, page size, KV dtype, decode graphs.
    Exit 0: as pinned; 1: it differs; 3: not to be told."""
    from reports.verified import render_json, render_text
    from tuner.logs.files import STDIN
    from tuner.verify import Request
    from tuner.verify import verify as verified

    if (url is None) == (not log):
        raise UsageError("give either --log FILE, the log of the server, or --url URL, where it serves")
    if follow and STDIN in (log or ()):
        raise UsageError("--follow cannot look again at a pipe (--log -); name a file, or use --url")
    found = verified(Request(Path(pin), tuple(log or ()), url, follow, within))
    sys.stdout.write(render_json(found) if json else render_text(found))
    return found.exit_code


def launch(
    words: Annotated[
        list[str], typer.Argument(metavar="[key=value]... -- CMD...", help="overrides as for check, then the server's command")
    ],
    pin: Annotated[str, typer.Option("--pin", metavar="FILE", help="the pin")],
    on_stale: Annotated[
        OnStale, typer.Option("--on-stale", help="something changed under the pin: warn and add its flags, start the default, or refuse")
    ] = OnStale.WARN,
    config_dir: ConfigDir = None,
) -> None:
    """Checks the pin (check --fast), adds those of its flags that CMD does not set, and becomes CMD: signals, exit code and streams are
    the server's. Exit 2: not started, the request is wrong; 3: not started, a stale pin is refused."""
    from tuner.launch import Asked
    from tuner.launch import launch as launched

    overrides, command = parted(words)
    if not command:
        raise UsageError("there is no command to start; write it after --, as in attnpin launch --pin F -- sglang serve --model-path M")
    launched(Asked(Path(pin), command, on_stale, overrides, config_dir))


def parted(words: list[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Overrides, and the command behind them; the mark between them may have been read off by the parser already. Raises `UsageError` for
    an option of ours behind an override, which the parser leaves to the command."""
    count = next((index for index, word in enumerate(words) if not OVERRIDE.fullmatch(word)), len(words))
    rest = words[count:]
    if rest and rest[0].startswith("-") and rest[0] != "--":
        raise UsageError(f"{rest[0]} stands where the server's command begins; options go first, then key=value, then -- and the command")
    return tuple(words[:count]), tuple(rest[1:] if rest[:1] == ["--"] else rest)
