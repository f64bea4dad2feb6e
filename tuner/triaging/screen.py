"""A minute of the GPU: the pinned and the default arm on the cells where most is at stake, by the means of `attnpin check`."""

from __future__ import annotations

from dataclasses import replace

from backends.environment import Environment
from store.database.connect import open_store
from store.decision import Pair
from store.runs.run import Run
from store.scenario import WeightedCell
from store.verdicts.checked import Checked
from store.verdicts.verdict import Change, Verdict
from tuner.checking.answered import by_screen
from tuner.checking.measuring import measured
from tuner.checking.pinned import Pinned, as_pinned
from tuner.checking.resting import Resting, resting
from tuner.device.session import Session
from tuner.settings import Settings
from tuner.triaging.signs import Signs
from tuner.verdicts.stored import FEWEST

LIMIT_S = 60.0
MOST_CELLS = 3
SERVED = "what the server loses"  # nobody knows yet what moved, so everything may have


def screened(signs: Signs, fast: Verdict, here: Environment, settings: Settings, session: Session) -> Checked:
    """Begins no process that would not end within `LIMIT_S`. Raises `AttnpinError` where the GPU cannot be measured, such as under the
    server that uses it."""
    then = narrowed(signs.run, signs.load.batch if signs.load else None)
    pinned = Pinned(signs.pin, then, rests_on(then, here, fast))
    store = open_store(settings.store_url)
    now = measured(pinned, question(settings, then), store, session, LIMIT_S)
    return by_screen(pinned, fast, now, store)


def question(settings: Settings, then: Run) -> Settings:
    """The pin's own, in as few processes as a comparison takes, and never from the store: it is about now."""
    asked = as_pinned(settings, then)
    measure = replace(asked.scenario.measure, processes=FEWEST)
    return replace(asked, scenario=replace(asked.scenario, measure=measure), fresh=True)


def rests_on(then: Run, here: Environment, fast: Verdict) -> Resting:
    """What changed is in question; where nothing did, all that is served."""
    found = resting(then, here, fast.changes)
    if found.at_stake:
        return found
    anything = Change(SERVED, None, "unknown", ("every arm",))
    return resting(then, here, (*fast.changes, anything))


def narrowed(run: Run, batch: int | None) -> Run:
    """With no more than what is served, the default, and the worst cells, one a question: where the pick stood worst, what the load of
    now is like, and what counts most."""
    decision = run.decision
    if decision is None:
        raise ValueError(f"run {run.id} was not decided and nothing rests on it")
    pairs = [pair for pair in (decision.pick, decision.default) if pair is not None]
    names = {arm for pair in pairs for arm in (pair.prefill, pair.decode)}
    cells = _worst_cells(run, pairs[0], batch)
    scores = tuple(score for score in decision.scores if score.pair in pairs)
    return replace(
        run,
        arms=tuple(arm for arm in run.arms if arm.name in names),
        cells=tuple(each for each in run.cells if each.cell.name in cells),
        decision=replace(decision, scores=scores),
    )


def _worst_cells(run: Run, pair: Pair, batch: int | None) -> tuple[str, ...]:
    """Names, at most `MOST_CELLS`."""
    decision = run.decision
    worst = [score.worst_cell for score in (decision.scores if decision else ()) if score.pair == pair and score.worst_cell]
    served = [each for each in run.cells if not each.is_guard]
    us = {(each.arm, each.cell): each.median_us for each in (decision.cells if decision else ())}

    def cost(each: WeightedCell) -> float:
        return each.calls_per_1000_tokens * each.layers * us.get((pair.of(each.cell.phase), each.cell.name), 0.0)

    near = [min(served, key=lambda each: abs(each.cell.batch - batch)).cell.name] if batch is not None and served else []
    heavy = [each.cell.name for each in sorted(served, key=cost, reverse=True)]
    return tuple(dict.fromkeys([*worst, *near, *heavy]))[:MOST_CELLS]
