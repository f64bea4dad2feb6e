"""The stored path as tables: how far sittings of the same versions are apart, and what the screen says of them."""

from __future__ import annotations

from collections.abc import Sequence

from reports import numbers
from reports.page import Table, markdown_table
from store.verdicts.comparison import Label
from tests.bench.sittings.occasions import Occasions
from tests.bench.sittings.spread import between, upper
from tuner.verdicts.session import FEWEST

FEWEST_OCCASIONS = 6
FALSE = (Label.SUSPECT, Label.REGRESSED, Label.IMPROVED)
INTRODUCTION = """\
## Stored times: the same versions on another occasion

Every arm of every sitting against the latest earlier one on its board, and against the latest earlier one on another board, as
`attnpin check` screens stored times. Nothing changed, so whatever is flagged is flagged falsely. *sigma_sess* is what one sitting adds to
ln time, beyond what its processes explain: as it is, and after what anchors show (or arms of other backends, as controls) was taken off.
*To reckon with* is its upper limit at 80 % by the rule that ships, or what that rule assumes below five pairs of sittings.
"""
WHICH = {True: "same board", False: "another board"}


def stored_path(found: Sequence[Occasions]) -> str:
    taken = {each.run for pair in found for each in (pair.new, pair.old)}
    boards = {each.board for pair in found for each in (pair.new, pair.old)}
    counted = f"{len(taken)} sittings, of {FEWEST_OCCASIONS} that are wanted at least, on {len(boards)} boards.\n"
    return "\n".join((INTRODUCTION, counted, *((_spread(found), _flags(found)) if found else ())))


def _spread(found: Sequence[Occasions]) -> str:
    header = ("", "pairs", "corrected by", "sigma_sess", "sigma_sess, corrected", "to reckon with", "to reckon with, corrected")
    lines = (_spread_line(name, [each for each in found if each.same_board is same]) for same, name in WHICH.items())
    return f"{markdown_table(Table(header, tuple(line for line in lines if line)))}\n"


def _spread_line(name: str, pairs: Sequence[Occasions]) -> tuple[str, ...]:
    if not pairs:
        return ()
    plain, corrected = (numbers.percent(between(pairs, each)) for each in (False, True))
    assumed = "" if len(pairs) >= FEWEST else " (assumed)"
    limits = (f"{numbers.percent(upper(pairs, each).sigma)}{assumed}" for each in (False, True))
    by = ", ".join(dict.fromkeys(pair.corrected_by or "nothing" for pair in pairs))
    return name, str(len(pairs)), by, plain, corrected, *limits


def _flags(found: Sequence[Occasions]) -> str:
    header = ("", "cells", *(label.value for label in Label), "not comparable", "falsely flagged")
    lines = (_flag_line(name, [each for each in found if each.same_board is same]) for same, name in WHICH.items())
    return f"{markdown_table(Table(header, tuple(line for line in lines if line)))}\n"


def _flag_line(name: str, pairs: Sequence[Occasions]) -> tuple[str, ...]:
    if not pairs:
        return ()
    apart = sum(len(pair.cells) for pair in pairs if pair.incomparable)
    labels = [verdict.label for pair in pairs if not pair.incomparable for verdict in pair.verdicts]
    share = numbers.percent(sum(label in FALSE for label in labels) / len(labels)) if labels else ""
    return name, str(len(labels) + apart), *(str(labels.count(label)) for label in Label), str(apart), share
