"""What reported figures say of a recorded reason and of a default. One figure each says how big a difference was, not how sure it is:
one below ``decide.max_cell_loss`` says nothing."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from backends.cell import Phase
from reports.audit import AS_REPORTED, relation
from store.decision import Pair
from store.engines.recorded_reason import Expected, ReasonHere, ReasonTest
from store.scenario import Decide
from store.verdicts.audit import Basis, DefaultFound, DefaultVerdict, ReasonFound, Relation
from tuner.auditing.figures import Figure
from tuner.auditing.judge import found
from tuner.auditing.obstacles import not_served
from tuner.auditing.relations import Seen


def judged(figures: Sequence[Figure], rule: str, here: ReasonHere, served: Iterable[Phase], rules: Decide) -> ReasonFound:
    """``served``: the phases that the server has."""
    return found(rule, here, _seen(figures, here.reason.test, tuple(served)), rules)


def _seen(figures: Sequence[Figure], test: ReasonTest, served: tuple[Phase, ...]) -> Iterator[Seen]:
    phases = [phase for phase in test.phases if phase in served]
    if not phases or test.expected is Expected.WRONG:
        yield "figures say nothing of whether answers are right" if phases else not_served(test)
        return
    compared = [each for each in relations(figures, test.chosen, test.against) if each.phase in phases]
    wanted = " and ".join(phase.value for phase in phases)
    yield from compared
    if not compared:
        yield f"there are no two figures of {test.against} and {test.chosen} for one case of {wanted}"


def relations(figures: Iterable[Figure], chosen: str, against: str) -> tuple[Relation, ...]:
    """One for each case that there are figures of both for."""
    both = ((of(case, chosen), of(case, against)) for case in cases(figures))
    return tuple(_relation(one, other) for one, other in both if one and other)


def cases(figures: Iterable[Figure]) -> Iterator[tuple[Figure, ...]]:
    """Figures that may be compared: of one phase, one metric and the same labels."""

    def case(figure: Figure) -> tuple[str, str, tuple[tuple[str, str], ...]]:
        return figure.phase.value if figure.phase else "", figure.metric.unit, tuple(sorted(figure.labels))

    yield from (tuple(group) for _, group in groupby(sorted(figures, key=case), key=case))


def of(case: Iterable[Figure], backend: str) -> Figure | None:
    return next((figure for figure in case if figure.backend == backend), None)


def _relation(chosen: Figure, against: Figure) -> Relation:
    ratio = chosen.value / against.value if chosen.metric.rate else against.value / chosen.value
    where = f"in {chosen.phase.value}" if chosen.phase else "of the whole server"
    labels = ", ".join(f"{key} {said}" for key, said in chosen.labels)
    return Relation(
        phase=chosen.phase,
        where=f"{where} ({labels})" if labels else where,
        chosen=chosen.backend,
        against=against.backend,
        chosen_value=chosen.value,
        against_value=against.value,
        unit=chosen.metric.unit,
        ratio=ratio,
        interval=None,
        basis=Basis.FIGURES,
    )


def default_of(figures: Sequence[Figure], default: Pair, phases: Iterable[Phase], known: Iterable[str], rules: Decide) -> DefaultFound:
    """``known``: backends that the engine has; a figure of another kernel is no choice. A phase without figures of its own goes by
    those of the whole server, and keeps its backend where there are none."""
    rivals, phases = [name for name in dict.fromkeys(figure.backend for figure in figures) if name in set(known)], tuple(phases)
    best = {phase: _best(figures, phase, default.of(phase), rivals, rules.max_cell_loss) or default.of(phase) for phase in phases}
    told = [each for phase in phases for each in _told(figures, phase, default.of(phase), best[phase], rivals)]
    if not told:
        return DefaultFound(default, DefaultVerdict.UNTESTED, "no figure compares it with another backend of the engine")
    because = f"{'; '.join(dict.fromkeys(map(relation, told)))} ({AS_REPORTED})"
    use = Pair(best.get(Phase.PREFILL, default.prefill), best.get(Phase.DECODE, default.decode))
    if use != default:
        return DefaultFound(default, DefaultVerdict.SLOWER, because, use)
    unsure = any(each.ratio < 1 for each in told)
    return DefaultFound(default, DefaultVerdict.INCONCLUSIVE if unsure else DefaultVerdict.KEEP, because)


def _of_phase(figures: Sequence[Figure], phase: Phase) -> list[Figure]:
    return [figure for figure in figures if figure.phase is phase] or [figure for figure in figures if figure.phase is None]


def _best(figures: Sequence[Figure], phase: Phase, default: str, rivals: Iterable[str], margin: float) -> str | None:
    """The backend that was faster than the default by more than ``margin`` in every case, the fastest of several."""
    compared = {rival: relations(_of_phase(figures, phase), default, rival) for rival in rivals if rival != default}
    winners = {rival: _mean(found) for rival, found in compared.items() if found and all(each.ratio * (1 + margin) < 1 for each in found)}
    return min(winners, key=winners.__getitem__, default=None)


def _mean(found: Sequence[Relation]) -> float:
    return math.exp(sum(math.log(each.ratio) for each in found) / len(found))


def _told(figures: Sequence[Figure], phase: Phase, default: str, best: str, rivals: Iterable[str]) -> Iterator[Relation]:
    """The default against what is to be used instead; where it stays, against each rival."""
    others = [best] if best != default else [rival for rival in rivals if rival != default]
    for other in others:
        yield from relations(_of_phase(figures, phase), default, other)
