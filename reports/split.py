"""What a backend for each phase buys over the best single one, in a sentence."""

from __future__ import annotations

from dataclasses import replace

from reports import choice, numbers, wording
from reports.page import Section
from store.decision import Decision


def headline(decision: Decision) -> str:
    """Of a pair that may be picked: no other is of use to who reads no further."""
    return "" if _is_barred(decision) else line(decision)


def beneath(section: Section, decision: Decision) -> Section:
    said = line(decision)
    return replace(section, body=(*section.body, f"Pair or single: {said}.")) if said else section


def line(decision: Decision) -> str:
    split = decision.split
    if split is None:
        return ""
    barred = " (it may not be picked)" if _is_barred(decision) else ""
    both = f"{wording.pair(split.pair)}, the best pair of two backends{barred}"
    if split.ratio is None:
        return f"{both}, and {wording.pair(split.single)}, the best single one, were timed together in too few processes to compare"
    said = f"{both}, takes {numbers.interval(split.ratio)} times the attention time of {wording.pair(split.single)}, the best single one"
    if split.step_gain_low is None or split.step_gain_high is None:
        return said
    return f"{said}: by splitting a step is {numbers.change_range(-split.step_gain_high, -split.step_gain_low)}, predicted"


def _is_barred(decision: Decision) -> bool:
    score = choice.score_of(decision, decision.split.pair) if decision.split else None
    return score is not None and score.barred is not None
