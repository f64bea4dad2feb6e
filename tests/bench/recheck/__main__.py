"""How long `attnpin check` takes after an upgrade, against tuning again: `python -m tests.bench.recheck [OVERRIDE ...]`.

In one folder, one after the other: `tune`; `check` where nothing changed; after an upgrade that touches no arm of the pin (it is to take
under a minute and 2 % of the tune); after one that touches them (under 15 %). OVERRIDEs are those of `attnpin tune`, and name what serves
first. By default on a simulated GPU, where starting processes is all that takes time: ratios are of one run, and say nothing of a GPU. What
they come to on one is foretold from recorded tunes in docs/cost-of-checks.md (`tests.docs` makes it).

On a GPU give the same with other libraries, where the arms that the pin rests on use what `--touching` changes:

    python -m tests.bench.recheck --untouching engine.path=[A,B] --touching engine.path=[C,D] model=qwen3_8b engine.path=[A,D]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.bench.recheck.aims import TOUCHED_SHARE, UNTOUCHED_S, UNTOUCHED_SHARE

ROOT = Path(__file__).parents[3]
SIMULATED = ("gpu=simulated", "model=qwen3_8b", "backend=[fa3,flashinfer,triton]")
UNTOUCHING = "gpu.simulated.versions.flash_attn=4.0.1"
TOUCHING = "gpu.simulated.versions.flashinfer=0.6.2"


@dataclass(frozen=True)
class Step:
    """``share`` of the tune and ``limit_s`` are what it is to stay under; None = no matter."""

    name: str
    words: tuple[str, ...]
    share: float | None = None
    limit_s: float | None = None


def steps(asked: argparse.Namespace) -> tuple[Step, ...]:
    overrides = tuple(asked.overrides) or SIMULATED
    check = ("check", "--pin", "pin/pin.yaml", *overrides)
    return (
        Step("tune", ("tune", *overrides)),
        Step("check, nothing changed", check, UNTOUCHED_SHARE, UNTOUCHED_S),
        Step("check, no arm of the pin touched", (*check, *asked.untouching), UNTOUCHED_SHARE, UNTOUCHED_S),
        Step("check, arms of the pin touched", (*check, *asked.touching), TOUCHED_SHARE),
    )


def seconds(words: Sequence[str], folder: Path) -> tuple[float, int, str]:
    """Wall time, exit code, and the first line that it printed."""
    places = ("store.url=sqlite:///attnpin.db", "pin.path=pin/pin.yaml")
    command = [sys.executable, "-P", "-m", "tuner", *words, *(places if words[0] == "tune" else places[:1])]
    begun = time.monotonic()
    done = subprocess.run(command, cwd=folder, env=_environment(), stdout=subprocess.PIPE, text=True)
    return time.monotonic() - begun, done.returncode, next(iter(done.stdout.splitlines()), "")


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": f"{ROOT}:{os.environ.get('PYTHONPATH', '')}"}


def line(step: Step, took_s: float, tune_s: float, code: int, said: str) -> str:
    share = took_s / tune_s
    kept = all((step.share is None or share < step.share, step.limit_s is None or took_s < step.limit_s))
    aim = "" if step.share is None else f"to be under {step.share:.0%}: {'kept' if kept else 'missed'}"
    return f"{step.name:<34}{took_s:8.1f} s{share:8.1%}  {aim:<26}exit {code}  {said}"


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.recheck")
    parser.add_argument("--untouching", action="append", metavar="OVERRIDE")
    parser.add_argument("--touching", action="append", metavar="OVERRIDE")
    parser.add_argument("overrides", nargs="*")
    asked = parser.parse_args(arguments)
    asked.untouching, asked.touching = asked.untouching or [UNTOUCHING], asked.touching or [TOUCHING]
    with tempfile.TemporaryDirectory() as folder:
        tune_s: float | None = None
        for step in steps(asked):
            took_s, code, said = seconds(step.words, Path(folder))
            tune_s = tune_s or took_s
            print(line(step, took_s, tune_s, code, said), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
