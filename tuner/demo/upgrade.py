"""`attnpin demo upgrade`: an upgrade that made a pinned backend slow, told again from its recorded pairs of processes."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from importlib.resources import as_file
from pathlib import Path

from reports import upgrade_story
from reports.side_by_side import render_text
from store.comparisons.side_by_side import SideBySide
from store.verdicts.comparison import Label
from store.verdicts.version_verdict import VersionVerdict
from tuner.comparing.differences import pairs_of
from tuner.comparing.recorded import COMMAND, EVIDENCE, MARKDOWN, judged, recorded, refuse_unwritable, write_comparison
from tuner.demo.recordings import UPGRADE, folder
from tuner.demo.replay import Pace, pace_of, play, round_phases
from tuner.errors import UsageError
from tuner.progress import Progress

TOLD = "flashinfer-0.5.3-to-0.6.1-h200"  # the one behind SGLang issue 17411
LIKE_COMPARE = "That is what `attnpin compare` does, beside a GPU: docs/after-an-upgrade.md. What was typed then:"


def run_demo_upgrade(out: Path | None, fast: bool) -> None:
    """Tell it on stderr and stdout; with ``out`` the files of the comparison go into that folder."""
    with as_file(folder() / UPGRADE / TOLD / EVIDENCE) as path:
        measured = recorded(path)
    if out is not None:
        _refuse_replacing(out)
        refuse_unwritable(out)
    verdict = judged(measured)
    print(upgrade_story.recorded(measured), flush=True)
    seconds = sum(seconds for pair in pairs_of(measured) for _, seconds in round_phases(pair))
    _pairs(measured, _slowest(verdict), pace_of(seconds, waiting=not fast and sys.stderr.isatty()))
    sys.stdout.write(f"\n{render_text(measured, verdict)}\n")
    print("\n".join(upgrade_story.cure(verdict)))
    print(f"\n{LIKE_COMPARE}\n  {measured.command}")
    if out is not None:
        write_comparison(out, measured)
        print(f"Its files: attnpin report --comparison {shlex.quote(str(out))}")


def _pairs(measured: SideBySide, pinned: str, pace: Pace) -> None:
    pairs = pairs_of(measured)
    with Progress() as progress:
        progress.total(len(pairs))
        progress.note(upgrade_story.pinned(measured.baseline, pinned))
        for number, pair in enumerate(pairs, 1):
            play(f"pair {number} of {len(pairs)}", round_phases(pair), progress, pace)
            progress.step()
            progress.note(upgrade_story.after_pairs(_after(measured, number), number, len(pairs)))


def _after(measured: SideBySide, count: int) -> VersionVerdict | None:
    """What the comparison would have said, had it ended after so many pairs."""
    if count < 2:
        return None
    kept = {old.index for old, _ in pairs_of(measured)[:count]}
    baseline, candidate = (
        replace(run, rounds=tuple(each for each in run.rounds if each.index in kept)) for run in (measured.baseline, measured.candidate)
    )
    return judged(replace(measured, baseline=baseline, candidate=candidate))


def _slowest(verdict: VersionVerdict) -> str:
    """The arm that regressed most."""
    slow = [row for row in verdict.rows if row.verdict.label is Label.REGRESSED]
    return max(slow, key=lambda row: row.verdict.numbers.estimate).arm


def _refuse_replacing(out: Path) -> None:
    for name in (EVIDENCE, MARKDOWN, COMMAND):
        if (out / name).exists():
            raise UsageError(f"{out / name} is there already and the demo replaces nothing; give another folder with --out")
