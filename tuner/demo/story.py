"""`attnpin demo`: the whole story on two screens, from what was recorded: a tune, the upgrade that regresses it, and the cure."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from reports import side_by_side, summary, upgrade_story, ways_out, wording
from reports.page import clean, text_table
from store.comparisons.side_by_side import SideBySide
from store.runs.run import Run
from store.verdicts.version_verdict import VersionVerdict
from tuner.comparing.recorded import judged, write_comparison
from tuner.demo import tuning, upgrade
from tuner.demo.recordings import CURE, TUNED, UPGRADE, comparison, recording
from tuner.demo.replay import pace_for

OPENING = "Recorded on an {board}, not measured here. Each part alone, with all of its numbers: attnpin demo tune, upgrade, cure"
PINNED = (
    "Who sets nothing serves {default} and is not hit. Who had measured, and pinned {backend}, is: decode_backend=auto is how SGLang "
    "called it before 0.5.9"
)
ENDING = "On your own machine: attnpin plan, which needs no GPU; attnpin tune; after every upgrade attnpin check --pin F"


def run_demo_story(out: Path | None, fast: bool) -> None:
    """Tell it on stderr and stdout; with ``out`` the pin's files go into that folder, those of either comparison into one below it."""
    run, compared = recording(TUNED), {part: comparison(part) for part in (UPGRADE, CURE)}
    if out is not None:
        _refuse_taken(out)
    print(OPENING.format(board=run.environment.board.name))
    tuned = _tune(run, out, fast)
    verdict = _upgrade(compared[UPGRADE], tuned, fast)
    _cure(compared[UPGRADE], verdict, compared[CURE], fast)
    if out is not None:
        _keep(out, compared)
    print(f"\n{ENDING}")


def _title(number: int, text: str) -> None:
    """Flushed, as is whatever stands before a line on stderr."""
    print(f"\n{number}  {clean(text)}", flush=True)


def _tune(run: Run, out: Path | None, fast: bool) -> Run:
    _title(1, f"The tune: {wording.title(run)}, {wording.engine(run.scenario.engine.name)} {run.engine_version}, {run.created[:10]}")
    tuned = tuning.measured(run, pace_for(run, not fast and sys.stderr.isatty(), brief=True), brief=True)
    print(summary.flags_and_times(tuned, tuning.decision_of(tuned), tuning.kept(tuned, out)), end="", flush=True)
    return tuned


def _upgrade(measured: SideBySide, tuned: Run, fast: bool) -> VersionVerdict:
    verdict = judged(measured)
    pinned = upgrade.followed(verdict)
    backend = next(arm.backend for arm in measured.baseline.arms if arm.name == pinned)
    _title(2, f"The upgrade that regresses: {upgrade_story.moved(verdict)}, on the same model and traffic, {measured.created[:10]}")
    default = wording.by_backend(wording.default(tuned, tuning.decision_of(tuned)), tuned.arms)
    print(PINNED.format(default=default, backend=backend), flush=True)
    upgrade.tell_pairs(measured, pinned, fast, brief=True)
    print(side_by_side.headline(measured, verdict), flush=True)
    return verdict


def _cure(upgraded: SideBySide, regression: VersionVerdict, measured: SideBySide, fast: bool) -> None:
    verdict, pinned = judged(measured), upgrade.followed(regression)
    _title(3, f"The cure: {upgrade_story.moved(verdict)}, {measured.created[:10]}")
    upgrade.tell_pairs(measured, pinned, fast, brief=True)
    print(f"{pinned}, one call, each version beside the first in one sitting:")
    print(text_table(upgrade_story.both_ways(pinned, regression, verdict)))
    for sentence in ways_out.sentences(upgraded.baseline, regression):
        if sentence.startswith(ways_out.WAY_OUT):
            print(f"  {clean(sentence)}")


def _refuse_taken(out: Path) -> None:
    """Raises `UsageError` as the parts do alone."""
    tuning.refuse_taken(out)
    for part in (UPGRADE, CURE):
        upgrade.refuse_taken(out / part)


def _keep(out: Path, compared: dict[str, SideBySide]) -> None:
    print(f"\nIts files: attnpin report --pin {shlex.quote(str(out / tuning.PIN))}")
    for part, measured in compared.items():
        write_comparison(out / part, measured)
        print(f"           attnpin report --comparison {shlex.quote(str(out / part))}")
