"""The one line beside each flag: how much attention time, against whom, and what it means for the step."""

from __future__ import annotations

from collections.abc import Iterable

from backends.cell import Phase
from reports import numbers, wording
from store.decision import Interval, Pair, PairScore
from store.scenario import WeightedCell
from tuner.deciding.contest import Contest
from tuner.deciding.scores import objective_ms, ratio

LIMIT = 160
PLAIN_FACTOR = 1.2
FLAG_PHASES = {
    "attention-backend": (Phase.PREFILL, Phase.DECODE),
    "prefill-attention-backend": (Phase.PREFILL,),
    "decode-attention-backend": (Phase.DECODE,),
}


def flag_reasons(
    contest: Contest, pick: PairScore, flags: Iterable[tuple[str, str]], ranked: Iterable[Pair], default_page: int
) -> tuple[tuple[str, str], ...]:
    """(flag, reason) for every flag; a reason is one line of at most `LIMIT` characters. ``ranked`` are the pick's rivals."""
    rivals = tuple(ranked)
    return tuple((flag, _reason(contest, pick, flag, rivals, default_page)) for flag, _ in flags)


def _reason(contest: Contest, pick: PairScore, flag: str, rivals: tuple[Pair, ...], default_page: int) -> str:
    if flag in FLAG_PHASES:
        return _phase_reason(contest, pick, FLAG_PHASES[flag], rivals)
    if flag == "page-size":
        page = contest.table.arms[pick.pair.decode].page_size
        return fitted(
            f"the pick was measured at {page} tokens a page, the default has {default_page}", "; one page size serves both phases"
        )
    return "the pick was measured with it"


def _phase_reason(contest: Contest, pick: PairScore, phases: tuple[Phase, ...], rivals: tuple[Pair, ...]) -> str:
    cells = tuple(weighted for weighted in contest.table.weighted() if weighted.cell.phase in phases)
    label = "+".join(phase.value for phase in phases)
    spent = f"{label}: {numbers.milliseconds(objective_ms(contest, pick.pair, cells))} of attention per 1000 output tokens"
    kept = contest.default is not None and _same(pick.pair, contest.default, phases)
    effect = "; the default here, kept" if kept else _effect(pick)
    return fitted(spent, _against(contest, pick.pair, _rival(contest, pick.pair, phases, cells, rivals), phases, cells), effect)


def _rival(
    contest: Contest, pick: Pair, phases: tuple[Phase, ...], cells: tuple[WeightedCell, ...], rivals: tuple[Pair, ...]
) -> Pair | None:
    """The default; where the pick keeps it, the other phase's arm (why not one arm for both?); else the fastest other arm."""
    others = [pair for pair in rivals if not _same(pair, pick, phases)]
    if contest.default in others:
        return contest.default
    twins = [pair for pair in others if pair.prefill == pair.decode and pair.decode in (pick.prefill, pick.decode)]
    return min(twins or others, key=lambda pair: objective_ms(contest, pair, cells), default=None)


def _against(contest: Contest, pick: Pair, rival: Pair | None, phases: tuple[Phase, ...], cells: tuple[WeightedCell, ...]) -> str:
    found = ratio(contest, rival, pick, cells) if rival is not None else None
    if rival is None or found is None:
        return ""
    arms = " + ".join(dict.fromkeys(rival.of(phase) for phase in phases))
    names = wording.by_backend(arms, contest.table.arms.values())
    return f", {names} takes {_times(found)} times that ({numbers.ratio(found.low)} to {numbers.ratio(found.high)})"


def _times(found: Interval) -> str:
    """Two digits where the factor is plain, three decimals where it is near 1 and the excess is what counts."""
    return numbers.significant(found.estimate, 2) if found.estimate >= PLAIN_FACTOR else numbers.ratio(found.estimate)


def _effect(pick: PairScore) -> str:
    if pick.step_gain_low is None or pick.step_gain_high is None:
        return ""
    return f"; pair wins {numbers.percent_range(pick.step_gain_low, pick.step_gain_high)} of a step, predicted"


def _same(one: Pair, two: Pair, phases: Iterable[Phase]) -> bool:
    return all(one.of(phase) == two.of(phase) for phase in phases)


def fitted(*parts: str) -> str:
    """The parts in order, as many as fit on one line of `LIMIT` characters; a first part that does not fit is cut."""
    line = parts[0][:LIMIT]
    for part in parts[1:]:
        if len(line + part) > LIMIT:
            break
        line += part
    return line
