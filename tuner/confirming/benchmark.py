"""The engine's own benchmark, run by the engine's Python, and the lines it wrote."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tuner.confirming.process import Program
from tuner.confirming.server import HOST
from tuner.confirming.tail import Note, tail
from tuner.engines.benchmarks import Call
from tuner.errors import MeasurementInvalid
from tuner.verifying.ask import KEY

LOOK_S = 1.0
LONGEST_S = 7200.0  # one that takes longer hangs
# what a pass needs is imported once, and while the server starts: it takes longer than a pass
PASSES = """
import importlib, json, runpy, sys
module, given = sys.argv[1:]
importlib.import_module(module)
sent = []
exec(given)
passes = sys.stdin.readline()
if not passes:
    sys.exit("standard input is closed, so no traffic can be asked for: docker, podman and kubectl hand it on with -i")
for words, rows in json.loads(passes):
    sent[:] = [([token for first, count in runs for token in range(first, first + count)], output) for runs, output in rows]
    sys.argv[1:] = words
    runpy.run_module(module, run_name="__main__", alter_sys=True)
"""


def ready_to_send(python: Sequence[str], call: Call, log: Path, key: str | None) -> Program:
    """The benchmark, which imports and then waits for its passes. ``key`` as of a `Place`."""
    return Program((*python, "-c", PASSES, call.module, call.given), log, _environment(key), listens=True)


def refuse_ended(benchmark: Program, call: Call, log: Path, note: Note) -> None:
    """Raises `MeasurementInvalid` for one that has ended before it was sent anything."""
    if (code := benchmark.code) is not None:
        raise _failure(call, f"failed with exit code {code} while the server started", log, note)


def send(benchmark: Program, call: Call, log: Path, note: Note, server: Program, longest_s: float = LONGEST_S) -> None:
    """Raises `MeasurementInvalid` for one that fails or hangs, or whose ``server`` ends under it; whose `with` it is ends it."""
    benchmark.say(json.dumps(list(zip(call.passes, call.rows, strict=True))))
    _heard_out(benchmark, call, log, note, server, longest_s)


def benchmarked(python: Sequence[str], call: Call, log: Path, note: Note, environment: Mapping[str, str]) -> None:
    """A single pass, as a plain program: one that starts processes of its own needs to be. Raises `MeasurementInvalid` as `send` does."""
    (words,) = call.passes
    with Program((*python, "-m", call.module, *words), log, {**_environment(), **environment}) as program:
        _heard_out(program, call, log, note, None, LONGEST_S)


def _heard_out(program: Program, call: Call, log: Path, note: Note, server: Program | None, longest_s: float) -> None:
    left = longest_s
    while (code := program.wait(LOOK_S)) is None and left > 0 and (server is None or server.code is None):
        left -= LOOK_S
    if code == 0:
        return
    how = f"failed with exit code {code}" if code is not None else f"hung, and was ended after {longest_s:.0f} s"
    if code is None and server is not None and server.code is not None:
        how = f"was ended, since the server ended under it with exit code {server.code}"
    raise _failure(call, how, log, note)


def _failure(call: Call, how: str, log: Path, note: Note) -> MeasurementInvalid:
    note(tail(log))
    return MeasurementInvalid(f"{call.module} {how}; above is the end of its log, {log.name}")


def _environment(key: str | None = None) -> Mapping[str, str]:
    """Both engines' benchmarks take a key from here, and would ask a proxy for a server of this machine."""
    key, direct = key or os.environ.get(KEY), os.environ.get("no_proxy") or os.environ.get("NO_PROXY")
    no_proxy = ",".join(filter(None, (direct, HOST)))
    return {"no_proxy": no_proxy, "NO_PROXY": no_proxy, **({"OPENAI_API_KEY": key} if key else {})}


def results(path: Path, count: int, benchmark: str) -> list[Mapping[str, Any]]:
    """The last ``count`` objects in ``path``, one a line. Raises `MeasurementInvalid` where there are fewer."""
    try:
        found = [json.loads(line) for line in path.read_text().splitlines() if line.strip()]
    except (OSError, ValueError):
        found = []
    if len(found) < count:
        passed = "a batch that the pool cannot hold is passed over; see its log"
        raise MeasurementInvalid(f"the {benchmark} benchmark wrote {len(found)} of {count} results ({passed})")
    return found[-count:]
