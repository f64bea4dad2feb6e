"""What a check answers where nothing needs to be measured. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from store.runs.run import Run
from store.verdicts.checked import Answer, Checked, Ground
from store.verdicts.verdict import Status, Verdict
from tuner.checking import saying
from tuner.checking.resting import Resting
from tuner.errors import OK, Incomplete

OTHER_MODEL = ("model", "config.json")
BEFOREHAND = {Status.REFUSED: Answer.REFUSED, Status.INCOMPARABLE: Answer.INCOMPARABLE}


def without_measuring(fast: Verdict, then: Run, rests: Resting, moved: Sequence[str]) -> Checked | None:
    """Where nothing was touched, and where times could not help; None where they are wanted. ``moved``: distributions that differ."""
    scope = saying.scope(then)
    if fast.status is Status.UNCHANGED or (fast.status is Status.CHANGED and not rests.in_question):
        sentence = saying.untouched(moved, fast.sentence)
        return Checked(Answer.HOLDS, sentence, Ground.NOTHING_MOVED, fast, scope, exit_code=OK)
    if other := [change.what for change in fast.changes if change.what in OTHER_MODEL]:
        sentence = f"{' and '.join(other)} changed: the pin's cells are another model's, so this is a case for attnpin tune"
        return Checked(Answer.CHANGED, sentence, Ground.NOTHING_MOVED, fast, scope, exit_code=Incomplete.exit_code)
    if fast.status in (Status.CHANGED, Status.KNOWN_BAD):
        return None
    return Checked(BEFOREHAND[fast.status], fast.sentence, Ground.NOTHING_MOVED, fast, scope, exit_code=fast.exit_code)
