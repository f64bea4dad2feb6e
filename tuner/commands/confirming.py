"""A pin put to the test on the server that it is for."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from tuner.commands.options import Json
from tuner.commands.serving import parted
from tuner.engines.benchmarks import Bench
from tuner.errors import UsageError
from tuner.verifying.patience import WITHIN_S

Against = Annotated[
    str | None,
    typer.Option("--against", metavar="FLAGS", help='options of the other server, as "--attention-backend triton"; default: none'),
]
Levels = Annotated[str, typer.Option("--concurrency", metavar="N,...", help="requests at once; default: the pin's traffic")]
Each = Annotated[int, typer.Option("--each", min=1, metavar="N", help="requests for each that runs at once")]
Prompt = Annotated[int | None, typer.Option("--prompt-tokens", min=1, metavar="N", help="on average; default: the pin's traffic")]
Output = Annotated[int | None, typer.Option("--output-tokens", min=2, metavar="N", help="on average; default: the pin's traffic")]


def confirm(
    words: Annotated[
        list[str],
        typer.Argument(metavar="[traffic.path=FILE] -- CMD...", help="a trace to send, then the server's command without the pin's flags"),
    ],
    pin: Annotated[str, typer.Option("--pin", metavar="FILE", help="the pin")],
    against: Against = None,
    starts: Annotated[int, typer.Option("--starts", min=3, metavar="N", help="of each side")] = 3,
    concurrency: Levels = "",
    each: Each = 4,
    prompt_tokens: Prompt = None,
    output_tokens: Output = None,
    engine_bench: Annotated[
        Bench, typer.Option("--engine-bench", help="one-batch: the engine's one-batch benchmark, no server")
    ] = Bench.SERVING,
    margin: Annotated[float, typer.Option("--margin", min=0.001, max=0.5, metavar="SHARE", help="below this a difference is none")] = 0.02,
    seed: Annotated[int, typer.Option("--seed", min=0, metavar="N", help="of requests and order")] = 1,
    within: Annotated[float, typer.Option("--within", metavar="SECONDS", min=1, help="a server is waited for no longer")] = WITHIN_S,
    python: Annotated[str | None, typer.Option("--python", metavar="CMD", help="the engine's Python, where CMD does not show it")] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="starts and logs are kept there; default: beside the pin")
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="measure again what an earlier call has measured")] = False,
    write: Annotated[bool, typer.Option("--write", help="write the result into the pin's evidence and justification")] = False,
    json: Json = False,
) -> int:
    """Starts CMD with the pin's flags and without them, in turns, sends both the same traffic through the engine's own benchmark, and
    compares ITL, TTFT and throughput, start by start. Called again, it goes on where it was interrupted. Exit 0: the pin is faster, or
    there is no difference; 1: it is slower; 3: not to be told, or the servers differ in more; 4: a benchmark failed."""
    from reports.serving_run import render_json, render_text
    from tuner.confirm import Asked
    from tuner.confirm import confirm as confirmed
    from tuner.confirming.traffic import AskedTraffic

    overrides, command = parted(words)
    if not command:
        raise UsageError("there is no command to start; write it after --, as in attnpin confirm --pin F -- sglang serve --model-path M")
    found = confirmed(
        Asked(
            pin=Path(pin),
            command=command,
            overrides=overrides,
            against=against,
            traffic=AskedTraffic(levels(concurrency), each, prompt_tokens, output_tokens),
            bench=engine_bench,
            starts=starts,
            margin=margin,
            seed=seed,
            within_s=within,
            python=python,
            out=out,
            fresh=fresh,
            write=write,
        )
    )
    sys.stdout.write(render_json(found) if json else render_text(found))
    return found.exit_code


def levels(text: str) -> tuple[int, ...]:
    words = text.replace(" ", "").split(",") if text else []
    if not all(word.isdecimal() and int(word) > 0 for word in words):
        raise UsageError(f"--concurrency {text} is no list of whole numbers from 1 up; write it as in --concurrency 1,16,64")
    return tuple(dict.fromkeys(map(int, words)))
