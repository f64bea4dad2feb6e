"""Between which two releases attention became slower, for a terminal, a pull request or a program: the answer first, then its steps."""

from __future__ import annotations

from collections.abc import Iterator

from backends.wire import to_plain
from reports import dispatch, page, verdict_row
from reports.json_line import json_line
from reports.outcome_words import ends
from reports.page import Section, Table, clean
from store.verdicts.bisection import Bisection, Standing, Tried, Turn
from store.verdicts.comparison import Label
from store.verdicts.version_verdict import Row

HEADER = ("release", "against the good one", "worst there", "ratio (98 % interval)", "pairs", "comparison")
MOVED = ("release", "what", "good release", "this one")


def render_json(found: Bisection) -> str:
    """One line: every comparison with its own verdict."""
    return json_line({"sentence": headline(found), **to_plain(found)})


def render_text(found: Bisection) -> str:
    head = "\n".join([headline(found), *(f"  {line}" for line in _scope(found))])
    return "\n\n".join([head, *map(page.text, _sections(found))]) + "\n"


def render_markdown(found: Bisection) -> str:
    head = f"**{page.escaped(headline(found))}**"
    scope = "\n".join(f"- {page.escaped(line)}" for line in _scope(found))
    return "\n\n".join([head, scope, *map(page.markdown, _sections(found))]) + "\n"


def headline(found: Bisection) -> str:
    return clean("; ".join([_verdict(found), *_afterwards(found)]))


def _verdict(found: Bisection) -> str:
    name, bad = found.distribution, found.tried[0]
    if found.first_bad is None:
        if bad.standing is Standing.GOOD:
            return f"no regression: {name} {found.bad} is not slower than {found.good}; what lies between was not asked"
        return f"inconclusive: whether {name} {found.bad} is slower than {found.good} cannot be told: {bad.why}"
    first, before = found.first_bad.first, found.first_bad.before
    if found.first_bad.exact:
        return f"first bad: {name} {first[0]} ({before} is good): {_change(found, found.first_bad)}"
    return f"first bad: {name}, one of {', '.join(first)} ({before} is good, {first[-1]} is bad): {_change(found, found.first_bad)}"


def _afterwards(found: Bisection) -> Iterator[str]:
    if found.until_good is None or found.first_bad is None:
        return
    if found.good_again is None:
        last = found.of(found.until_good)
        how = "still bad" if last and last.standing is Standing.BAD else f"not to be told of: {last.why if last else 'it was not asked'}"
        yield f"{found.until_good} is {how}"
    elif found.good_again.exact:
        yield f"first good again: {found.good_again.first[0]}"
    else:
        first, last = found.good_again.first, found.of(found.good_again.first[-1])
        how = last.standing.value if last else Standing.GOOD.value
        yield f"first good again: one of {', '.join(first)} ({found.good_again.before} is bad, {first[-1]} is {how})"
    if found.good_again is not None:
        yield from (f"{each.release} is {_cured(found, each)}" for each in _left_over(found) if each.release in _ends(found))


def _ends(found: Bisection) -> tuple[str | None, ...]:
    """The releases that a reader would move to."""
    return (found.good_again.first[-1] if found.good_again else None, found.until_good)


def _left_over(found: Bisection) -> Iterator[Tried]:
    return (each for each in found.tried if each.standing is Standing.CURED)


def _cured(found: Bisection, tried: Tried) -> str:
    rows = [row for row in tried.verdict.rows if row.verdict.label is Label.REGRESSED and not row.control] if tried.verdict else []
    cells = sorted((row for row in rows if row.cell), key=lambda row: -row.verdict.numbers.estimate) or rows
    said = "; ".join(_still(found, row) for row in cells)
    return f"cured of it; but {said} times as long as with {found.good}"


def _still(found: Bisection, row: Row) -> str:
    still = "still takes" if (row.arm, row.cell) in found.fault else "takes"
    return f"{verdict_row.place(row)} {still} {verdict_row.interval(row)}"


def _change(found: Bisection, turn: Turn) -> str:
    """On the row that is worst in the first bad release: its ratio in the last good one, and there."""
    tried = found.of(turn.first[-1])
    row = None if tried is None else _worst(found, tried)
    if row is None:
        broken = tried.verdict.broken[0] if tried and tried.verdict else None
        return f"{broken.arm} on {broken.cell} {ends(broken.outcome)}: {broken.detail}" if broken else "an arm runs no more"
    before = found.of(turn.before)
    old = next((each for each in _rows(found, before) if (each.arm, each.cell) == (row.arm, row.cell)), None) if before else None
    good, bad = verdict_row.times(row)
    change = f"{verdict_row.ratio(old)} -> {verdict_row.ratio(row)}"
    return f"{verdict_row.place(row)} {change} ({good} with {found.good}, {bad} with {turn.first[-1]})"


def _scope(found: Bisection) -> Iterator[str]:
    yield f"on         {clean(found.about)}; each release side by side with {found.distribution} {found.good}, above 1 is slower"
    yield f"holds for  {', '.join(found.cells)}: nothing is said of other shapes, batches and contexts"
    if found.fault:
        yield f"bad means  slower, or no longer running, on {_places(found)}"
    if found.until_good and found.first_bad is not None:
        yield f"cured      means surely nearer to {found.good} than to {found.first_bad.first[-1]}, as ratios go, wherever that one is bad"
    if found.first_bad is not None:
        yield from (f"skipped    {each.release}: {clean(each.why or '')}" for each in found.tried if each.standing is Standing.SKIPPED)
        yield from (f"open       {each.release}: {clean(each.why or '')}" for each in found.tried if each.standing is Standing.OPEN)
    yield from (f"left over  {each.release} is {_cured(found, each)}" for each in _left_over(found) if each.release not in _ends(found))
    if found.first_bad is not None and found.untold:
        yield f"assumed    that what was not measured is as its measured neighbours: {', '.join(found.untold)}"


def _places(found: Bisection) -> str:
    cells: dict[str, list[str]] = {}
    for arm, cell in found.fault:
        cells.setdefault(arm, []).append(cell or "all cells")
    return "; ".join(f"{arm} on {', '.join(its)}" for arm, its in cells.items())


def _sections(found: Bisection) -> Iterator[Section]:
    yield Section("Steps", (Table(HEADER, tuple(_step(found, each) for each in found.tried)),))
    if advice := (*found.advice, *_constraints(found)):
        yield Section("Ways out", advice)
    first = found.of(found.first_bad.first[-1]) if found.first_bad else None
    if first and first.verdict and first.verdict.dispatches:
        yield Section(f"Which code ran in {first.release}", tuple(dispatch.sentences(first.verdict.dispatches)))
    if others := tuple(_others(found)):
        yield Section("What else differed from the good release", (Table(MOVED, others),))
    if needs := tuple(dict.fromkeys(sentence for each in found.tried for sentence in each.needs)):
        yield Section("What else would have to move", needs)


def _step(found: Bisection, tried: Tried) -> tuple[str, ...]:
    row, pairs = _worst(found, tried), str(tried.verdict.rounds) if tried.verdict else ""
    where, ratio = ("", "") if row is None else (verdict_row.place(row), verdict_row.interval(row))
    return tried.release, tried.standing.value, where, ratio, pairs, tried.compared or ""


def _others(found: Bisection) -> Iterator[tuple[str, ...]]:
    for tried in found.tried:
        for each in tried.verdict.moved if tried.verdict else ():
            if each.what != found.distribution:
                yield tried.release, each.what, each.before or "absent", each.after or "absent"


def _constraints(found: Bisection) -> Iterator[str]:
    """For pip or uv, whose ranges they are."""
    if found.first_bad is None:
        return
    bound = f"<{found.first_bad.first[0]}" if found.first_bad.exact else f"<={found.first_bad.before}"
    yield f"way out: hold {found.distribution}{bound}, in a constraints file for pip or uv"
    if found.good_again is not None:
        yield f"way out: take {found.distribution}>={found.good_again.first[-1]}"


def _worst(found: Bisection, tried: Tried) -> Row | None:
    return verdict_row.worst(_rows(found, tried))


def _rows(found: Bisection, tried: Tried | None) -> tuple[Row, ...]:
    """Those of the fault; where there is none, all that are no controls."""
    rows = tried.verdict.rows if tried and tried.verdict else ()
    mine = tuple(row for row in rows if (row.arm, row.cell) in found.fault)
    slower = tuple(row for row in mine if row.verdict.label is Label.REGRESSED)
    return slower or mine or tuple(row for row in rows if not row.control and not found.fault)
