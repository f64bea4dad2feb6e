"""A comparison before its first measurement: two runs of the same arms and cells, and why there may be none."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from store.comparisons.side_by_side import SideBySide
from store.database.connect import Store
from store.digest import copies_digest, pair_digest
from store.runs.run import RUNNING, Run
from tuner.calibrating.calibrated import noise_floor
from tuner.comparing.env import Env
from tuner.comparing.in_turn import SAID, why_in_turn
from tuner.comparing.sameness import moved, other_board, untouched
from tuner.comparing.side import Side
from tuner.comparing.tuning import PINNED
from tuner.errors import Incomplete
from tuner.new_run import command_line, new_id, new_run
from tuner.tune import refuse_hopeless

OWNER = "attnpin compare"


def refuse_incomparable(baseline: Side, candidate: Side) -> None:
    """Raises `Incomplete` for two boards, and where no arm can be measured on both sides."""
    if objection := other_board(baseline.environment, candidate.environment):
        raise Incomplete(f"{objection}; run both on one")
    for side in (baseline, candidate):
        refuse_hopeless(side.plan)
    if not common_arms(baseline, candidate):
        names = [", ".join(arm.name for arm in side.plan.arms) for side in (baseline, candidate)]
        raise Incomplete(f"no arm can be measured on both sides: the baseline has {names[0]}, the candidate {names[1]}; see attnpin plan")


def refuse_untouched(begun: SideBySide, envs: Iterable[Env]) -> None:
    """Raises `Incomplete` where something differs between the two and none of it can touch an arm: every arm would be measured beside
    itself. Two environments that are the same, or that differ in a simulated GPU, are somebody's question."""
    changes = moved(begun.baseline, begun.candidate)
    if not changes or not untouched(begun) or any(env.overrides or env.slowed for env in envs):
        return
    what = ", ".join(f"{each.what} ({each.before or 'absent'} -> {each.after or 'absent'})" for each in changes)
    names = ", ".join(arm.name for arm in begun.baseline.arms)
    raise Incomplete(f"nothing was measured, since {what} touches no arm that can be ({names}); attnpin plan says why the others cannot")


def common_arms(baseline: Side, candidate: Side) -> tuple[str, ...]:
    theirs = {arm.name for arm in candidate.plan.arms}
    return tuple(arm.name for arm in baseline.plan.arms if arm.name in theirs)


def side_by_side(baseline: Side, candidate: Side) -> SideBySide:
    """With nothing measured yet. Both sides take the baseline's cells; arms of one side alone are left out, and said."""
    names, now = common_arms(baseline, candidate), datetime.now(UTC)
    why = why_in_turn(baseline.environment.board, baseline.session.keeper.exclusive, baseline.plan)
    runs = tuple(_run_of(side, baseline, names, letter, why) for side, letter in ((baseline, "a"), (candidate, "b")))
    return SideBySide(
        id=new_id(now),
        digest=pair_digest(*(run.digest for run in runs)),
        status=RUNNING,
        created=now.isoformat(timespec="seconds"),
        command=command_line(),
        said=(baseline.env.said, candidate.env.said),
        baseline=runs[0],
        candidate=runs[1],
        together=why is None,
    )


def with_noise(store: Store, begun: SideBySide) -> SideBySide:
    """With what a calibration of the board says of noise, by which it is judged from then on."""
    floor = noise_floor(store, begun.baseline.environment.board)
    return replace(begun, baseline=replace(begun.baseline, noise_floor=floor), candidate=replace(begun.candidate, noise_floor=floor))


def _run_of(side: Side, baseline: Side, names: Sequence[str], letter: str, why: str | None) -> Run:
    run = new_run(side.plan, side.environment, world=side.settings.world)
    arms = tuple(arm for arm in run.arms if arm.name in names)
    alone = [f"{arm.name} can be measured on this side alone and is left out" for arm in run.arms if arm.name not in names]
    in_turn = () if why is None else (SAID.format(why),)
    notes = (*run.notes, *alone, *in_turn, *((PINNED,) if side.env.pinned else ()))
    owner = " ".join([OWNER, letter, *(["in turn"] if in_turn else []), *(["pinned"] if side.env.pinned else []), run.digest])
    digest = copies_digest(owner, (replace(arm, slowed=side.env.slowed) for arm in arms))
    return replace(run, digest=digest, arms=arms, cells=baseline.plan.cells, command=command_line(), notes=notes)
