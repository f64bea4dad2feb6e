"""A bisection that was measured, found again: the releases of its command, and of each comparison the evidence."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from reports.bisection import render_text
from store.comparisons.comparison_evidence import read_comparison
from store.verdicts.bisection import Bisection
from tuner.bisect import bisected
from tuner.bisecting.releases import Asked, Line, line_of
from tuner.compare import Compared, Enough
from tuner.comparing.env import Env
from tuner.comparing.recorded import COMMAND, judged
from tuner.errors import UsageError

SUFFIX = ".evidence.jsonl.zst"  # behind the release that was held against the good one
TEXT = "bisection.txt"


def bisection_of(folder: Path) -> Bisection:
    """What was not measured is skipped."""

    def compare(envs: tuple[Env, Env], _: Sequence[str], __: Enough) -> Compared:
        release = envs[1].said.partition("==")[2]
        evidence = folder / f"{release}{SUFFIX}"
        if not evidence.exists():
            raise UsageError("it was not measured in that sitting")
        measured = read_comparison(evidence)
        return Compared(measured, judged(measured))

    return bisected(line_in((folder / COMMAND).read_text()), (), compare)


def line_in(command: str) -> Line:
    words = shlex.split(command)
    after = {option: words[words.index(option) + 1] for option in ("--until-good", "--releases")}
    releases = tuple(each.partition("=")[0] for each in after["--releases"].split(","))
    return line_of(Asked(words[2], words[3], words[4], after["--until-good"], releases), ())


def bisection_texts(folder: Path) -> dict[str, str]:
    return {TEXT: render_text(bisection_of(folder))}
