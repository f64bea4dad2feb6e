"""What a search among knobs tried, and what became of each setting."""

from __future__ import annotations

from collections.abc import Iterable

from backends.cell import Phase
from reports import numbers, wording
from reports.page import Section, Table
from store.runs.run import Run
from store.search import Fate, Searched, SearchKind, Space, Tried

WORTH = "ratio = attention time of the phase / the default's in the same process; a screen only picks what is raced"


def in_a_sentence(found: Searched) -> str:
    """How many were pruned after how much time, of how many. One that is tried in either phase counts twice, but among the settings."""
    of = {fate: [each for each in found.tried if each.fate is fate] for fate in Fate}
    trials = wording.count(len(found.tried), "trial")
    pruned_s = numbers.seconds(sum(each.seconds for each in of[Fate.PRUNED]))
    parts = [
        f"{len(_arms(found.tried))} of {wording.count(found.settings, 'setting')} screened in {numbers.seconds(found.seconds)} ({trials})",
        f"{wording.count(len(of[Fate.PRUNED]), 'trial')} pruned after {pruned_s}" if of[Fate.PRUNED] else "none pruned",
        *([f"{len(of[Fate.FAILED])} failed"] if of[Fate.FAILED] else []),
        f"{len(_arms(of[Fate.FINALIST]))} into the race",
    ]
    return f"search={found.search.kind.value}: {', '.join(parts)}"


def _arms(tried: Iterable[Tried]) -> set[str]:
    return {each.arm for each in tried}


def section(run: Run) -> Section | None:
    found = run.searched
    if found is None:
        return None
    how = {
        SearchKind.EXHAUSTIVE: "Every setting was tried",
        SearchKind.OPTUNA: f"At most {found.search.trials} settings a phase were tried, as Optuna's TPE sampler asked for them",
    }[found.search.kind]
    rule = (
        f"{how}, none twice, in up to {found.search.steps} repetitions beside the default; one that a Wilcoxon signed-rank test over them "
        f"called worse than the best so far (p below {found.search.p_threshold:g}) was pruned"
    )
    left_alone = (f"Not searched: {sentence}." for sentence in found.unsearched)
    tables = (_table(found, phase) for phase in Phase if any(each.phase is phase for each in found.tried))
    return Section("Search among knobs", (f"{in_a_sentence(found)}.", f"{rule}; {WORTH}.", *tables, *left_alone))


def _table(found: Searched, phase: Phase) -> Table:
    rows = tuple(_row(each) for each in found.tried if each.phase is phase)
    return Table((f"{phase.value}: setting", "ratio", "repetitions", "took", "what became of it"), rows)


def _row(each: Tried) -> tuple[str, ...]:
    ratio = "" if each.ratio is None else f"{each.ratio:.3f}"
    became = {Fate.FINALIST: "raced", Fate.FINISHED: "others were better"}.get(each.fate, each.fate.value)
    return each.arm, ratio, str(each.steps), numbers.seconds(each.seconds), f"{became}: {each.detail}" if each.detail else became


def space_section(space: Space | None) -> Section | None:
    """What a search would try of each arm, and what it leaves alone."""
    if space is None:
        return None
    rows = tuple(_of_base(base, space) for base in dict.fromkeys(setting.base for setting in space.settings))
    table = Table(("arm", "settings", "knobs that would be turned"), rows)
    left_alone = (f"Not searched: {sentence}." for sentence in space.unsearched)
    return Section(f"Would be screened: {wording.count(len(space.settings), 'setting')}", (table, *left_alone))


def _of_base(base: str, space: Space) -> tuple[str, ...]:
    mine, values = [setting for setting in space.settings if setting.base == base], dict[str, dict[str, None]]()
    for name, value in (chosen for setting in mine for chosen in setting.chosen):
        values.setdefault(name, {})[value] = None
    return base, str(len(mine)), "; ".join(f"{name}: {', '.join(found)}" for name, found in values.items())
