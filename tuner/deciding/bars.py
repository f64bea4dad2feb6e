"""Why a ranked pair may still not be picked: a demand keeps it out, the engine would not start with it, it loses too much on one
cell, the user chose otherwise, its answers would be others, or requests may wait for its compiler."""

from __future__ import annotations

from collections.abc import Collection

from backends.cell import Phase
from reports import numbers
from store.decision import Pair
from store.runs.run import Run
from store.scenario import WeightedCell
from tuner.deciding.contest import Contest
from tuner.deciding.deviations import changes_answers
from tuner.deciding.incumbent import chosen, usual
from tuner.deciding.knob_flags import unpinnable
from tuner.deciding.scores import cell_ratio
from tuner.deciding.table import Table
from tuner.deciding.ties import backends_of
from tuner.engines.lookup import rules_of

GUARDED_TOKEN_SHARE = 0.01


def guarded(table: Table) -> tuple[WeightedCell, ...]:
    """Cells on which no pick may lose: guards, at least 1 % of tokens, or the most context tokens of their phase."""
    largest = {max(table.cells_of(phase), key=_context_tokens, default=None) for phase in Phase}
    return tuple(one for one in table.cells if one.is_guard or one.token_share >= GUARDED_TOKEN_SHARE or one in largest)


def _context_tokens(weighted: WeightedCell) -> int:
    return sum(weighted.cell.context_lens)


def loses_a_cell(contest: Contest, pair: Pair, phases: Collection[Phase] = tuple(Phase)) -> str | None:
    """The sentence for the first guarded cell of ``phases`` on which the pair is not surely within ``decide.max_cell_loss`` of the
    default (an arm loses nothing to itself)."""
    default = contest.default or pair
    for weighted in (one for one in guarded(contest.table) if one.cell.phase in phases):
        cell, phase = weighted.cell.name, weighted.cell.phase
        arm, other = pair.of(phase), default.of(phase)
        found = cell_ratio(contest, arm, other, cell)
        if found is not None and found.high > 1 + contest.rules.max_cell_loss:
            limit = numbers.percent(contest.rules.max_cell_loss)
            return f"{arm} takes {numbers.interval(found)} times the time of {other} on {cell}: not surely within {limit} of it"
    return None


def from_the_start(run: Run, contest: Contest, pair: Pair) -> str | None:
    """Why a pair may not be picked whatever its times are."""
    return (
        kept_out(run, pair)
        or against_choice(contest.table, pair, run)
        or compiles_while_serving(contest.table, pair, run)
        or (None if pair == contest.default else unpinnable(run, contest.table, pair) or _narrower(run, contest.table, pair))
        or (None if pair == contest.default else changes_answers(run, pair))
        or (None if pair == contest.default else would_not_start(contest, pair, run))
    )


def _narrower(run: Run, table: Table, pair: Pair) -> str | None:
    """An FP8 KV cache that nobody asked for changes answers."""
    arm = table.arms[pair.decode]
    if run.scenario.engine.allow_fp8_kv or arm.kv_dtype == run.default.kv_cache_dtype or not arm.kv_dtype.startswith("float8"):
        return None
    return f"{arm.name} has an FP8 KV cache, which changes answers; with engine.allow_fp8_kv=true it may be pinned"


def against_choice(table: Table, pair: Pair, run: Run) -> str | None:
    """An explicit choice is kept, however much faster something else is."""
    for phase in run.scenario.engine.role.phases:
        choice = chosen(run.scenario.engine, phase)
        if choice and table.arms[pair.of(phase)].backend != usual(run).of(phase):
            return f"{choice} is your choice and is kept"
    page, kept = table.arms[pair.decode].page_size, run.default.page_size
    return f"engine.page_size={kept} is your choice and is kept" if run.scenario.engine.page_size is not None and page != kept else None


def kept_out(run: Run, pair: Pair) -> str | None:
    """The demand that keeps out an arm which was measured because the user named it."""
    for phase in run.scenario.engine.role.phases:
        terms = run.terms_of(pair.of(phase))
        for one in terms.barred if terms else ():
            if one.phase in (None, phase.value):
                return f"{one.reasons[0].asked} keeps {pair.of(phase)} out ({one.reasons[0].allowed})"
    return None


def would_not_start(contest: Contest, pair: Pair, run: Run) -> str | None:
    """The engine refuses some pairs of backends that it takes one by one."""
    page_size = contest.table.arms[pair.decode].page_size
    return rules_of(run.scenario).refusal_of(run.scenario, backends_of(contest, pair), page_size, run.default, run.environment.releases)


def compiles_while_serving(table: Table, pair: Pair, run: Run) -> str | None:
    """A backend whose requests may have to wait for a compiler is picked only where the user allows it, or has it already."""
    if run.scenario.engine.allow_serving_jit:
        return None
    for phase in Phase:
        arm = pair.of(phase)
        why = late_builds(run, arm)
        if why and table.arms[arm].backend != usual(run).of(phase):
            return f"{arm} may compile kernels while it serves ({why}); with engine.allow_serving_jit=true it may be pinned"
    return None


def late_builds(run: Run, arm: str) -> str | None:
    """Why requests may have to wait for the arm's compiler; None where they need not, or where nobody has read whether."""
    terms = run.terms_of(arm)
    return terms.jit.why if terms and terms.jit and terms.jit.stalls_requests else None
