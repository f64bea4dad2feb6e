"""`attnpin diff OLD NEW`: what became of a pin, from the files of its two versions alone."""

from __future__ import annotations

from pathlib import Path

from reports import wording
from store.pins.pin_diff import PinDiff, Turn
from store.verdicts.verdict import Change
from tuner.diffing import reasons, times
from tuner.diffing.changes import changes
from tuner.diffing.moved import asked, moved, other_board
from tuner.diffing.side import Side, read_side
from tuner.diffing.uncompared import may_be_timed, uncompared


def diff(old: Path, new: Path) -> PinDiff:
    """Raises `StoreError` for a pin that cannot be read."""
    return difference(read_side(old), read_side(new))


def difference(old: Side, new: Side) -> PinDiff:
    """Pure."""
    flags, under = flag_changes(old, new), moved(old, new)
    board = other_board(under)
    timed = may_be_timed(old, new, board) and old.run and new.run
    screen = times.screen_of(old.run, new.run, under) if timed and old.run and new.run else None
    rows = times.judged(screen) if screen else ()
    turn = Turn.ENGINE if old.pin.engine != new.pin.engine else Turn.OTHER if flags else Turn.SAME
    return PinDiff(
        turn=turn,
        sentence=sentence(turn, old, new, flags),
        old=old.name,
        new=new.name,
        flags=flags,
        kept=tuple(flag for flag in new.pin.flags if flag in old.pin.flags),
        reasons=reasons.reasons(old, new),
        moved=under,
        asked=asked(old, new),
        said=reasons.said(old, new),
        arms=reasons.arms(old, new),
        judged=rows,
        plain=tuple(times.plain(screen, rows)) if screen else (),
        uncompared=tuple(uncompared(old, new, board)),
        notes=tuple(times.notes(screen, rows)) if screen else (),
    )


def flag_changes(old: Side, new: Side) -> tuple[Change, ...]:
    before, after = ({wording.option(name): value for name, value in (*pin.flags, *pin.variables)} for pin in (old.pin, new.pin))
    return tuple(changes(before, after))


def sentence(turn: Turn, old: Side, new: Side, flags: tuple[Change, ...]) -> str:
    if turn is Turn.ENGINE:
        return f"a pin of {wording.engine(old.pin.engine)} and one of {wording.engine(new.pin.engine)} have no flag in common"
    if flags:
        return "; ".join(map(_flag, flags))
    return f"{wording.settings(new.pin.flags, new.pin.variables)}, then and now" if new.pin.flags else "none is set, then and now"


def _flag(change: Change) -> str:
    if change.after is None:
        return f"{change.what} {change.before} is no longer set"
    return f"{change.what} {change.after} " + ("is set, which was not" if change.before is None else f"instead of {change.before}")
