"""`attnpin demo upgrade` and `demo cure`: an upgrade under a pinned backend, told again from its recorded pairs of processes."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from pathlib import Path

from reports import upgrade_story
from reports.side_by_side import render_text
from store.comparisons.side_by_side import SideBySide
from store.verdicts.version_verdict import VersionVerdict
from tuner.comparing.differences import pairs_of
from tuner.comparing.recorded import COMMAND, EVIDENCE, MARKDOWN, judged, refuse_unwritable, write_comparison
from tuner.demo.recordings import comparison
from tuner.demo.replay import pace_of, play, round_phases
from tuner.errors import UsageError
from tuner.progress import Progress

LIKE_COMPARE = "That is what `attnpin compare` does, beside a GPU: docs/after-an-upgrade.md. What was typed then:"


def run_demo_upgrade(part: str, out: Path | None, fast: bool) -> None:
    """Tell that ``part`` of the story on stderr and stdout; with ``out`` the files of the comparison go into that folder."""
    measured = comparison(part)
    if out is not None:
        refuse_taken(out)
    verdict = judged(measured)
    print(upgrade_story.recorded(measured), flush=True)
    tell_pairs(measured, followed(verdict), fast)
    sys.stdout.write(f"\n{render_text(measured, verdict)}\n")
    for line in upgrade_story.cure(verdict):
        print(line)
    print(f"\n{LIKE_COMPARE}\n  {measured.command}")
    if out is not None:
        write_comparison(out, measured)
        print(f"Its files: attnpin report --comparison {shlex.quote(str(out))}")


def tell_pairs(measured: SideBySide, pinned: str, fast: bool, brief: bool = False) -> None:
    """Every pair of processes with what was known after it; ``brief``: those that changed it."""
    pairs, said = pairs_of(measured), ""
    seconds = sum(seconds for pair in pairs for _, seconds in round_phases(pair))
    pace = pace_of(seconds, not fast and sys.stderr.isatty(), brief)
    with Progress() as progress:
        progress.total(len(pairs))
        if not brief:
            progress.note(upgrade_story.pinned(measured.baseline, pinned))
        for number, pair in enumerate(pairs, 1):
            play(f"pair {number} of {len(pairs)}", round_phases(pair), progress, pace)
            progress.step()
            told, said = said, upgrade_story.after_pairs(_after(measured, number))
            if not (brief and said == told):
                progress.note(f"pair {number} of {len(pairs)}  {said}")


def followed(verdict: VersionVerdict) -> str:
    """The arm that had been pinned: what it asks for means something else in the candidate."""
    return next(dispatch.arm for dispatch in verdict.dispatches if dispatch.before != dispatch.after)


def _after(measured: SideBySide, count: int) -> VersionVerdict | None:
    """What the comparison would have said, had it ended after so many pairs."""
    if count < 2:
        return None
    kept = {old.index for old, _ in pairs_of(measured)[:count]}
    baseline, candidate = (
        replace(run, rounds=tuple(each for each in run.rounds if each.index in kept)) for run in (measured.baseline, measured.candidate)
    )
    return judged(replace(measured, baseline=baseline, candidate=candidate))


def refuse_taken(out: Path) -> None:
    """Raises `UsageError` where a file is in the way, or none can be written."""
    for name in (EVIDENCE, MARKDOWN, COMMAND):
        if (out / name).exists():
            raise UsageError(f"{out / name} is there already and the demo replaces nothing; give another folder with --out")
    refuse_unwritable(out)
