"""The steps of a server in columns: how many requests each works on, how long their contexts are, and what its attention takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from backends.cell import Phase
from tuner.traffic.pace import Pace
from tuner.traffic.requests import Floats, Ints, Requests
from tuner.traffic.simulated import Simulated

SHORT = 8  # steps that are never told apart: contexts hardly grow in them
GROWTH = 8  # of a context, one part in so many, is the most that counts as one


@dataclass(frozen=True)
class Shape:
    """The requests of one step, as `Cell` has them."""

    contexts: tuple[int, ...]
    new: tuple[int, ...]
    prompts: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Steps:
    """Of one phase. Entry i stands for ``count`` equal steps, each of ``batch`` requests with ``new`` query tokens and ``keys`` in
    their contexts together, ``attention_s`` of attention in all layers and ``tokens`` output tokens (decode) or computed prompt tokens
    (prefill); ``at_s`` is when. ``shape`` gives the requests of entry i."""

    phase: Phase
    count: Floats
    batch: Floats
    new: Floats
    keys: Floats
    attention_s: Floats
    tokens: Floats
    at_s: Floats
    shape: Callable[[int], Shape]

    def axes(self) -> Floats:
        """ln of what tells steps apart, one row an entry: batch and mean context; of a prefill new tokens, those of a request on
        average, and its mean context."""
        context = self.keys / self.batch
        columns = (self.batch, context) if self.phase is Phase.DECODE else (self.new, self.new / self.batch, context)
        return np.log(np.stack(columns, axis=1))


def decode_steps(requests: Requests, run: Simulated, pace: Pace, accepted: float = 1.0) -> Steps:
    """Between two events the batch stays and the contexts grow. Steps that ran within a prefill (mixed chunks) are not among them."""
    there = run.steps > 0
    joined, left, prompt = run.joined[there], (run.joined + run.steps)[there], requests.prompt[there]
    inside = run.decoded[run.mixed > 0]
    events = np.unique(np.concatenate((joined, left, inside, inside + 1)))
    batch, base = _running(events, joined, left, prompt + 1 - joined * accepted)
    at, length, which = _cut(events, batch, base, accepted)
    kept = (batch[which] > 0) & ~np.isin(events[which], inside)
    at, length, which = at[kept], length[kept], which[kept]
    requests_in, keys = batch[which], base[which] + batch[which] * at * accepted

    def shape(index: int) -> Shape:
        step = int(at[index])
        inside_it = np.flatnonzero((run.joined <= step) & (run.joined + run.steps > step))
        made = ((step - run.joined[inside_it]) * accepted).astype(np.int64) + 1
        prompts = requests.prompt[inside_it]
        return Shape(tuple((prompts + made).tolist()), (1,) * len(prompts), tuple(prompts.tolist()))

    seconds = pace.decode_attention_s(requests_in, keys)
    when = _clock(run, at)
    return Steps(Phase.DECODE, length, requests_in, requests_in, keys, seconds, requests_in * accepted, when, shape)


def prefill_steps(requests: Requests, run: Simulated, pace: Pace, accepted: float = 1.0) -> Steps:
    """Mixed ones have the requests that decode in them, each with one new token."""
    number, step = len(run.ended_s), run.piece_step

    def over(weights: npt.NDArray[np.number] | None) -> Floats:
        return np.bincount(step, weights, number).astype(np.float64)

    batch, new, keys = over(None), over(run.piece_new), over(run.piece_prefix + run.piece_new)
    seconds, computed = over(pace.piece_attention_s(run.piece_prefix, run.piece_new)) + pace.latency_s, new.copy()
    mixed = np.flatnonzero(run.mixed)
    beside, contexts = _beside(requests, run, run.decoded[mixed], accepted)
    batch[mixed] += beside
    new[mixed] += beside
    keys[mixed] += contexts
    seconds[mixed] += pace.decode_attention_s(beside, contexts) - pace.latency_s
    first = np.searchsorted(step, np.arange(number + 1))

    def shape(index: int) -> Shape:
        pieces = slice(int(first[index]), int(first[index + 1]))
        prefix, fresh = run.piece_prefix[pieces], run.piece_new[pieces]
        there = _decoding(run, int(run.decoded[index])) if run.mixed[index] else np.empty(0, dtype=np.int64)
        prompts = requests.prompt[there]
        made = ((run.decoded[index] - run.joined[there]) * accepted).astype(np.int64) + 1
        own = np.concatenate((prefix + fresh, prompts + made))
        its = np.concatenate((prefix + fresh, prompts))
        return Shape(*(tuple(each.tolist()) for each in (own, np.concatenate((fresh, np.ones_like(prompts))), its)))

    return Steps(Phase.PREFILL, np.ones(number), batch, new, keys, seconds, computed, run.ended_s, shape)


def _decoding(run: Simulated, step: int) -> Ints:
    return np.flatnonzero((run.joined <= step) & (run.joined + run.steps > step))


def _running(events: Ints, joined: Ints, left: Ints, amount: npt.NDArray[np.number]) -> tuple[Floats, Floats]:
    """After each event: how many run, and the sum of their ``amount``."""
    came, went = np.searchsorted(events, joined), np.searchsorted(events, left)

    def held(weights: npt.NDArray[np.number] | None) -> Floats:
        found: Floats = np.cumsum(np.bincount(came, weights, len(events)) - np.bincount(went, weights, len(events)))
        return found

    return held(None), held(amount)


def _cut(events: Ints, batch: Floats, base: Floats, accepted: float) -> tuple[Floats, Floats, Ints]:
    """Spans between events, long ones cut where contexts have grown: middle step, length, and the event that began it."""
    begin, length = events[:-1], np.diff(events)
    context = (base[:-1] + batch[:-1] * begin * accepted) / np.maximum(batch[:-1], 1)
    parts = np.ceil(length / np.maximum(SHORT, context / GROWTH / accepted)).astype(np.int64)
    which = np.repeat(np.arange(len(begin)), parts)
    number = np.arange(len(which)) - np.repeat(np.cumsum(parts) - parts, parts)
    size = length[which] / parts[which]
    return np.floor(begin[which] + (number + 0.5) * size), size, which


def _beside(requests: Requests, run: Simulated, steps: Ints, accepted: float) -> tuple[Floats, Floats]:
    """How many requests decode in each of ``steps`` (ascending), and their contexts together."""
    there = run.steps > 0
    joined, left = run.joined[there], (run.joined + run.steps)[there]
    events = np.unique(np.concatenate((joined, left, steps)))
    batch, base = _running(events, joined, left, requests.prompt[there] + 1 - joined * accepted)
    found = np.searchsorted(events, steps)
    return batch[found], base[found] + batch[found] * steps * accepted


def _clock(run: Simulated, steps: Floats) -> Floats:
    """When a decode step ran, as of the prefill before it."""
    before = np.searchsorted(run.decoded, steps, side="right") - 1
    found: Floats = run.ended_s[np.maximum(before, 0)]
    return found
