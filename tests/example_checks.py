"""A check that was made on a GPU, answered again from the pin and the evidence of its run."""

from __future__ import annotations

from pathlib import Path

from reports.checked import render_text
from store.evidence.run_evidence import read_evidence
from store.runs.run import Run
from store.verdicts.checked import Checked
from tuner.check import verdict
from tuner.checking import concluding
from tuner.checking.confirm import old_versions
from tuner.checking.edited import unedited
from tuner.checking.measuring import same_code
from tuner.checking.pinned import Pinned
from tuner.checking.resting import resting
from tuner.checking.ways_out import next_call
from tuner.unmeasured.flags import Case, flags_by_rules
from tuner.unmeasured.issues import issues, knowledge
from tuner.unmeasured.weigh import weighed
from tuner.verdicts.session import assumed

PIN, TODAY, APART, TEXT = "pin.yaml", "today.evidence.jsonl.zst", "apart.txt", "check.txt"


def check_of(folder: Path) -> Checked:
    """``apart.txt``, where it is there, says why the two versions were not measured side by side."""
    now = read_evidence(folder / TODAY)
    pinned, found = _screened(folder, now)
    apart = folder / APART
    if apart.exists():
        found = concluding.unconfirmed(found, apart.read_text().strip())
    return concluding.with_ways_out(found, next_call(pinned, now, PIN, old_versions(pinned.then, found.fast.changes).packages))


def _screened(folder: Path, now: Run) -> tuple[Pinned, Checked]:
    (pin, then), here = unedited(folder / PIN), now.environment
    known = issues(then, here, knowledge(None))
    fast = weighed(verdict(pin, then, here), pin, flags_by_rules(Case(pin, then, here)), known)
    pinned = Pinned(pin, then, resting(then, here, fast.changes))
    if same_code(pinned, now):
        return pinned, concluding.by_code(pinned, fast, now)
    return pinned, concluding.by_times(pinned, fast, now, assumed(same_board=True))


def check_texts(folder: Path) -> dict[str, str]:
    return {TEXT: render_text(check_of(folder))}
