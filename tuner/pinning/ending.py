"""What a decided run came to, in one record."""

from __future__ import annotations

from pathlib import Path

from reports import choice, headline, wording
from store.decision import Decision, Ruling
from store.pins.pin import Pin
from store.runs.run import Run
from store.sweeps.sweep import Ending


def ending_of(run: Run, decision: Decision, pin: Pin | None, path: Path, exit_code: int) -> Ending:
    compared = headline.compared_score(decision)
    return Ending(
        exit_code=exit_code,
        said=wording.by_backend(headline.decided(run, decision), run.arms),
        run=run.id,
        board=run.environment.board.name,
        ruling=decision.ruling.value,
        flags=() if pin is None else pin.flags,
        effect=choice.step_change(compared) if compared and decision.ruling is Ruling.SWITCH else "",
        pin=None if pin is None else str(path),
    )
