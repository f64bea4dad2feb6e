"""Which of several changes made attention slower, or that none did, for a terminal, a pull request or a program."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from backends.wire import to_plain
from reports import numbers, page, verdict_row
from reports.json_line import json_line
from reports.page import Section, Table, clean
from store.verdicts.attribution import MOST, Alone, Attribution, Finding
from store.verdicts.bisection import Standing
from store.verdicts.verdict import Change
from store.verdicts.version_verdict import Row

HEADER = ("what", "baseline", "candidate", "touches", "moved alone", "worst there", "ratio (98 % interval)", "comparison")
ORDER = "in this order: what a slower arm imports, what every arm runs on, what other arms import, then the rest"
COMPILERS = {"triton": "the compiler below the kernels", "torch": "the framework below the kernels"}
ELSEWHERE = "MoE and other matrix products, all-reduce, norms, sampling, the scheduler"
WORDS = {
    Standing.BAD: "slower",
    Standing.GOOD: "not slower",
    Standing.OPEN: "inconclusive",
    Standing.SKIPPED: "not possible",
    None: "not tried",
}


def render_json(comparison: str, found: Attribution) -> str:
    """One line: that of the ``comparison``, with an ``attribution`` more."""
    return json_line({**json.loads(comparison), "attribution": {"sentence": headline(found), **to_plain(found)}})


def render_text(found: Attribution) -> str:
    return "\n\n".join([headline(found), *map(page.text, _sections(found))]) + "\n"


def render_markdown(found: Attribution) -> str:
    return "\n\n".join([f"**{page.escaped(headline(found))}**", *map(page.markdown, _sections(found))]) + "\n"


def headline(found: Attribution) -> str:
    return clean("; ".join([SENTENCES[found.finding](found), *_share(found)]))


def _cause(found: Attribution) -> str:
    bad = [each for each in found.alone if each.standing is Standing.BAD]
    return f"{'cause' if len(bad) == 1 else 'causes'}: {', and '.join(_slower_alone(found, each) for each in bad)}"


def _slower_alone(found: Attribution, alone: Alone) -> str:
    row = _worst(found, alone)
    slower = "an arm runs no more" if row is None else f"{verdict_row.place(row)} 1.000 -> {verdict_row.ratio(row)}"
    return f"{_named(alone.changes)}: alone {slower}"


def _only(found: Attribution) -> str:
    if len(found.causes) > 1:
        return f"cause: among {_named(found.causes)}, which lie in one folder and cannot be moved apart"
    return f"cause: {_named(found.causes)}, the only thing that differs"


def _narrowed(found: Attribution) -> str:
    return f"cause not told apart: {_named(found.causes)}, since {'; '.join(_reasons(found))}"


def _reasons(found: Attribution) -> Iterator[str]:
    yield from (f"{_names(each.changes)} alone is {WORDS[each.standing]}: {each.why}" for each in found.alone if each.why)


def _together(found: Attribution) -> str:
    if not found.alone:
        return "cause: none that attnpin can see, since nothing that it knows of differs"
    return f"cause: no single one of {_named(_all(found))}: each moved alone leaves attention as it was, together they do not"


def _not_attention(found: Attribution) -> str:
    rest = f"look at what else runs on {_named(_all(found))}" if found.alone else "look elsewhere"
    held = [f"{each.what}=={each.before}" for each in _all(found) if each.before is not None and " " not in each.before]
    hold = f"; hold {' '.join(held)} until that is found" if held else ""
    return f"not attention: in none of {found.comparisons} comparisons did a time grow by more than the margin; {rest}: {ELSEWHERE}{hold}"


def _open(found: Attribution) -> str:
    if found.observed_loss is not None and found.most is not None and found.most >= MOST * found.observed_loss:
        return "not to be told whether it is attention; measure=release narrows the intervals"
    steps = ", then ".join(_named(each.changes) for each in found.alone)
    how = f"move one thing at a time: {steps}" if len(found.alone) > 1 else "measure=release takes more rounds"
    return f"cause unknown: attention is inconclusive, so neither it nor a package is blamed; {how}"


def _nothing(found: Attribution) -> str:
    return "no cause to be found: attention is not slower; where your own throughput fell, name by how much with --observed-loss"


SENTENCES = {
    Finding.CAUSE: _cause,
    Finding.ONLY: _only,
    Finding.NARROWED: _narrowed,
    Finding.TOGETHER: _together,
    Finding.NOT_ATTENTION: _not_attention,
    Finding.OPEN: _open,
    Finding.NOTHING: _nothing,
}


def _share(found: Attribution) -> Iterator[str]:
    """Of the loss that was seen, what attention may account for."""
    if found.observed_loss is not None and found.most is not None:
        seen, most = numbers.percent(found.observed_loss), numbers.percent(found.most)
        share = found.most / found.observed_loss
        enough = "so it may be all of it" if share >= 1 else "so it may be much of it" if share >= MOST else "so most of it lies elsewhere"
        yield f"of the {seen} of throughput that were lost attention costs at most {most}, in a step that is nothing else, {enough}"


def _sections(found: Attribution) -> Iterator[Section]:
    if found.alone:
        rows = tuple(_step(found, each, change) for each in found.alone for change in each.changes)
        reasons = tuple(_reasons(found))
        yield Section("One thing moved at a time", (Table(HEADER, rows), ORDER, *reasons))


def _step(found: Attribution, alone: Alone, change: Change) -> tuple[str, ...]:
    row = _worst(found, alone)
    place, ratio = ("", "") if row is None else (verdict_row.place(row), verdict_row.interval(row))
    versions = change.before or "absent", change.after or "absent"
    return change.what, *versions, ", ".join(change.touches), WORDS[alone.standing], place, ratio, alone.compared or ""


def _all(found: Attribution) -> tuple[Change, ...]:
    return tuple(change for each in found.alone for change in each.changes)


def _named(changes: Iterable[Change]) -> str:
    return ", ".join(_change(each) for each in changes)


def _change(change: Change) -> str:
    what = f"{change.what} {change.before or 'absent'} -> {change.after or 'absent'}"
    return f"{what} ({COMPILERS[change.what]})" if change.what in COMPILERS else what


def _names(changes: Iterable[Change]) -> str:
    return ", ".join(each.what for each in changes)


def _worst(found: Attribution, alone: Alone) -> Row | None:
    rows = alone.verdict.rows if alone.verdict else ()
    return verdict_row.worst(row for row in rows if (row.arm, row.cell) in found.fault)
