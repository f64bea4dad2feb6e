"""The one line beside each flag: how much attention time, against whom, and what it means for the step."""

from __future__ import annotations

from collections.abc import Iterable

from backends.cell import Phase
from reports import numbers, wording
from reports.choice import step_change
from store.decision import Interval, Pair
from store.scenario import WeightedCell
from tuner.deciding.contest import Contest
from tuner.deciding.incumbent import chosen
from tuner.deciding.knob_flags import knob_reason
from tuner.deciding.scores import objective_ms, ratio
from tuner.deciding.standing import Standing

LIMIT = 160
PLAIN_FACTOR = 1.2
FLAG_PHASES = {
    "attention-backend": (Phase.PREFILL, Phase.DECODE),
    "prefill-attention-backend": (Phase.PREFILL,),
    "decode-attention-backend": (Phase.DECODE,),
}
OTHERS = ("kv-cache-dtype",)


def flag_reasons(standing: Standing, pick: Pair, flags: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """(flag, reason) for every flag of ``pick``; a reason is one line of at most `LIMIT` characters."""
    return tuple((flag, _reason(standing, pick, flag)) for flag, _ in flags)


def _reason(standing: Standing, pick: Pair, flag: str) -> str:
    if flag in FLAG_PHASES:
        served = standing.run.scenario.engine.role.phases
        return _phase_reason(standing, pick, tuple(phase for phase in FLAG_PHASES[flag] if phase in served))
    if flag == "page-size":
        return _page_reason(standing, pick)
    if flag not in OTHERS:
        return fitted(knob_reason(standing.run, standing.contest.table, pick, flag))
    return "the pick was measured with it"


def _page_reason(standing: Standing, pick: Pair) -> str:
    page, default = standing.contest.table.arms[pick.decode].page_size, standing.run.default.page_size
    if page == default:
        return f"your choice, kept: the pick was measured at {page} tokens a page"
    return fitted(f"the pick was measured at {page} tokens a page, the default has {default}", "; one page size serves both phases")


def _phase_reason(standing: Standing, pick: Pair, phases: tuple[Phase, ...]) -> str:
    cells = tuple(weighted for weighted in standing.contest.table.weighted() if weighted.cell.phase in phases)
    rival = _rival(standing.contest, pick, phases, cells, standing.ranked)
    contest = standing.fresh if standing.fresh and rival == standing.fresh.default else standing.contest
    label = "+".join(phase.value for phase in phases)
    spent = f"{label}: {numbers.milliseconds(objective_ms(contest, pick, cells))} of attention per 1000 output tokens"
    against = _against(contest, pick, rival, phases, cells)
    return fitted(spent, against, _effect(standing, pick, phases))


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
    """The slower of the two is given as a multiple of the faster: 1.10 times reads easier than 0.91 times."""
    found = ratio(contest, rival, pick, cells) if rival is not None else None
    if rival is None or found is None:
        return ""
    arms = " + ".join(dict.fromkeys(rival.of(phase) for phase in phases))
    name = wording.by_backend(arms, contest.table.arms.values())
    other = ratio(contest, pick, rival, cells)
    if found.estimate < 1 and other is not None:
        return f", {_times(other)} that of {name} {_range(other)}"
    return f", {name} takes {_times(found)} that {_range(found)}"


def _times(found: Interval) -> str:
    """Two digits where the factor is plain, three decimals where it is near 1 and the excess is what counts."""
    return f"{numbers.significant(found.estimate, 2) if found.estimate >= PLAIN_FACTOR else numbers.ratio(found.estimate)} times"


def _range(found: Interval) -> str:
    return f"({numbers.ratio(found.low)} to {numbers.ratio(found.high)})"


def _effect(standing: Standing, pick: Pair, phases: tuple[Phase, ...]) -> str:
    default = standing.contest.default
    if default is not None and _same(pick, default, phases):
        scenario = standing.run.scenario
        asked = any(chosen(scenario.engine, phase) for phase in phases)
        return f"; {wording.whose_choice(scenario) if asked else 'the default here'}, kept"
    score = next((score for score in standing.scores if score.pair == pick), None)
    change = step_change(score) if score else ""
    return f"; a step {change}, predicted" if change else ""


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
