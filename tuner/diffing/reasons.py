"""Why a pin says what it says, then and now. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from reports import headline, wording
from store.runs.run import Run
from store.verdicts.verdict import Change
from tuner.diffing.changes import changes
from tuner.diffing.side import Side
from tuner.racing.sieve import measured_trials

ELSEWHERE = ("Decision", "Cautions")


def reasons(old: Side, new: Side) -> tuple[Change, ...]:
    """Of flags and of unset ones, and of the default; each touches the flag it is of."""
    return tuple(changes(_because(old), _because(new)))


def said(old: Side, new: Side) -> tuple[Change, ...]:
    """Lines of the justification's first screen, and cautions that came or went."""
    if old.run is None or new.run is None:
        return ()
    return (*changes(_lines(old.run), _lines(new.run)), *_cautions(old.run, new.run))


def arms(old: Side, new: Side) -> tuple[Change, ...]:
    """How each arm ended: measured, failed, left out, or none at all."""
    return tuple(changes(_ends(old.run), _ends(new.run))) if old.run and new.run else ()


def _because(side: Side) -> Mapping[str, str]:
    found = {wording.option(name): because for name, because in side.pin.because}
    if not side.pin.flags:
        found["unset"] = wording.unset(side.pin.unset)
    if side.run is not None:
        found["default"] = f"{side.run.default.backends}: {side.run.default.because}"
    return found


def _lines(run: Run) -> Mapping[str, str]:
    return {label: sentence for label, sentence in headline.lines(run) if label not in ELSEWHERE}


def _cautions(old: Run, new: Run) -> Iterator[Change]:
    before, after = (dict.fromkeys(run.decision.cautions if run.decision else ()) for run in (old, new))
    yield from (Change("caution", None, text, ()) for text in after if text not in before)
    yield from (Change("caution", text, None, ()) for text in before if text not in after)


def _ends(run: Run) -> dict[str, str]:
    """By backend: an arm's name holds its page size, which may have changed with it."""
    cells = measured_trials(run.trials)
    found = {each.backend: f"left out ({', '.join(dict.fromkeys(reason.rule for reason in each.reasons))})" for each in run.exclusions}
    for arm in run.arms:
        failed = [trial for trial in run.trials if trial.arm == arm.name and (trial.arm, trial.cell) not in cells]
        ended = f"{failed[0].outcome.value} on {failed[0].cell}" if failed else "measured" if _is_in(arm.name, cells) else "not tried"
        found[arm.backend] = ended
    return found


def _is_in(arm: str, cells: Mapping[tuple[str, str], object]) -> bool:
    return any(name == arm for name, _ in cells)
