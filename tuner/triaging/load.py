"""What the last lines of schedulers come to, and how fast decode is now against before. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from store.serving.triaged import Load, Pace
from tuner.logs.steps import Decoded
from tuner.triaging.watch import Entry, Watch

FEWEST = 5  # lines on either side of a comparison
SAME_BATCH, SAME_CONTEXT = 0.2, 0.3  # off the median of now: further apart a time a token says nothing of another
FULL = 0.95  # of the pool: what is left is pages that no request can fill


def load_of(watch: Watch) -> Load | None:
    """None: no decode line since the newest start."""
    now = watch.now()
    if not now:
        return None
    states = [entry.decoded for entry in now]
    quiet, busy = ([entry for entry in now if bool(entry.prefills) is with_some] for with_some in (False, True))
    retracted = sum(entry.retracted for entry in now)
    quiet_ms, busy_ms = _with_and_without(quiet, busy)
    return Load(
        lines=len(now),
        workers=sum(bool(each.recent) for each in watch.schedulers.values()),
        batch=round(median(state.running for state in states)),
        most=max(state.running for state in states),
        tokens_per_request=_whole(_median(state.tokens_per_request for state in states)),
        queued=_whole(_median(state.queued for state in states)),
        waiting_lines=sum(bool(state.queued) for state in states),
        usage=_median(state.usage for state in states),
        full_lines=sum(state.usage is not None and state.usage >= FULL for state in states),
        token_ms=_median(state.token_ms for state in states),
        outside=tuple(sorted(Counter(state.running for state in states if state.inside is False).items())),
        told=sum(state.inside is not None for state in states),
        prefills=fmean(entry.prefills for entry in now),
        quiet_ms=quiet_ms,
        busy_ms=busy_ms,
        busy_lines=len(busy),
        retracted=retracted,
        retraction=watch.retraction.quote() if watch.retraction and retracted else None,
        last=_typical(now).line.quote(),
        pace=pace_of(now, watch.before()),
    )


@dataclass(frozen=True)
class Likeness:
    """Lines whose times may be compared: about as many requests at once, with contexts about as long."""

    batch: float
    context: float | None

    def holds(self, decoded: Decoded) -> bool:
        its = decoded.tokens_per_request
        near = self.context is None or its is None or abs(its - self.context) <= SAME_CONTEXT * self.context
        return near and abs(decoded.running - self.batch) <= SAME_BATCH * self.batch


def _likeness(now: Sequence[Entry]) -> Likeness:
    states = [entry.decoded for entry in now]
    return Likeness(median(state.running for state in states), _median(state.tokens_per_request for state in states))


def _typical(now: Sequence[Entry]) -> Entry:
    """The newest of those that are like most of them: what is shown speaks for all."""
    like, waits = _likeness(now), bool(_median(entry.decoded.queued for entry in now))

    def alike(entry: Entry) -> tuple[bool, bool]:
        return like.holds(entry.decoded) and entry.decoded.tokens != 0, bool(entry.decoded.queued) is waits

    return max(reversed(now), key=alike)


def pace_of(now: Sequence[Entry], before: Sequence[tuple[Entry, bool]]) -> Pace | None:
    """None: too few lines with such a batch and such contexts on one side. Lines before the newest start go before earlier ones of it."""
    like = _likeness(now)
    alike = [entry for entry in now if like.holds(entry.decoded)]
    for restarted in (True, False):
        earlier = [entry for entry, was in before if was is restarted and like.holds(entry.decoded)]
        mine, theirs = _times(alike), _times(earlier)
        if min(len(mine), len(theirs)) >= FEWEST:
            batches = [entry.decoded.running for entry in (*alike, *earlier)]
            return Pace((min(batches), max(batches)), median(mine), len(mine), median(theirs), len(theirs), restarted)
    return None


def _with_and_without(quiet: Sequence[Entry], busy: Sequence[Entry]) -> tuple[float | None, float | None]:
    """A token's time in steps that are alike but for the prefills before some: a batch of 64 takes longer than one of 2 without any."""
    if not busy:
        return None, None
    like = _likeness(busy)
    mine, theirs = (_times(entry for entry in entries if like.holds(entry.decoded)) for entries in (quiet, busy))
    return (median(mine), median(theirs)) if min(len(mine), len(theirs)) >= FEWEST else (None, None)


def _times(entries: Iterable[Entry]) -> list[float]:
    return [time for entry in entries if (time := entry.decoded.token_ms) is not None]


def _median(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None


def _whole(value: float | None) -> int | None:
    return None if value is None else round(value)
