"""A continuous-batching server without a GPU: which requests run together, step after step, under the engine's limits.

Requests are let in as they came, as soon as one more may run and the KV pool holds it to its last token (SGLang counts on a part of
that and takes requests back where it was wrong: here none is). A prefill step works off whoever was let in, at most a chunk of tokens,
and goes before decoding, as in sglang/srt/managers/scheduler.py, get_next_batch_to_run; with mixed chunks the running requests decode
in the same step. A prompt's last piece gives the first token; decode steps give the others, ``accepted`` at a time.

Only what depends on the past is stepped through, one event after the other: arrivals, pieces of prompts, ends. Batches and contexts
follow from who joined and left when (`tuner.traffic.steps`), for all steps at once.
"""

from __future__ import annotations

from array import array
from heapq import heappop, heappush
from math import ceil, inf

import numpy as np

from tuner.traffic.pace import Pace
from tuner.traffic.requests import Ints, Requests
from tuner.traffic.simulated import Rules, Simulated


def simulate(requests: Requests, rules: Rules, pace: Pace) -> Simulated:
    """``requests`` as `Requests.fitted` made them."""
    run = _Run(requests, rules, pace)
    while run.next < run.count or run.batch:
        if run.let_in():
            run.prefill()
        elif run.batch:
            run.decode()
        else:
            run.idle()
    return run.ended()


class _Run:
    """The state of the simulation. One loop of some microseconds an event: plain numbers and local names, no arrays."""

    def __init__(self, requests: Requests, rules: Rules, pace: Pace) -> None:
        self.count, self.rules = len(requests), rules
        self.rest: list[float] = pace.rest_s.tolist()
        self.latency, self.key, self.windows = pace.linear()
        self.closed = requests.arrival_s is None
        self.arrival: list[float] = [] if requests.arrival_s is None else requests.arrival_s.tolist()
        more = np.ceil((requests.output - 1) / rules.accepted).astype(np.int64)
        self.prompt, self.cached, self.more = requests.prompt.tolist(), requests.cached.tolist(), more.tolist()
        self.held: list[int] = held_tokens(requests, rules.page_size).tolist()
        self.attention: list[float] = pace.piece_attention_s(requests.cached, requests.prompt - requests.cached).tolist()
        self.room: float = inf if rules.pool is None else rules.pool - requests.shared // rules.page_size * rules.page_size
        at_once = rules.at_once or rules.running
        self.free = min(rules.running, at_once) if self.closed else rules.running
        self.callers = [0.0] * at_once if self.closed else []  # since when each of those without a request has none
        self.clock, self.idle_s, self.contexts = 0.0, 0.0, 0.0
        self.step, self.batch, self.next = 0, 0, 0
        self.half: int | None = None  # tokens of the next request's prompt that are computed, while only a part is
        self.blocked = False  # by the pool
        self.leaving: list[tuple[int, int]] = []  # (decode step, request)
        self.entered: list[tuple[int, int]] = []  # (request, new tokens) of the coming prefill step
        self.joined, self.pieces, self.prefills, self.held_back = array("q"), array("q"), array("q"), array("q")
        self.asked_s, self.waited_s, self.first_s, self.ended_s = array("d"), array("d"), array("d"), array("d")
        self.left_s = [0.0] * self.count

    def let_in(self) -> bool:
        """Pieces of prompts for one prefill step, the rest of a half-computed prompt first."""
        room, self.blocked = self.rules.chunk, False
        while room and self.next < self.count and (self.closed or self.arrival[self.next] <= self.clock):
            i = self.next
            if self.half is None and not self._reserve(i):
                break
            before = self.cached[i] if self.half is None else self.half
            new = min(room, self.prompt[i] - before)
            self.entered.append((i, new))
            self.pieces.extend((len(self.ended_s), i, before, new))
            room -= new
            self.half = before + new if before + new < self.prompt[i] else None
            self.next += self.half is None
        return bool(self.entered)

    def _reserve(self, i: int) -> bool:
        """A request that the whole pool is too small for runs alone."""
        if not self.free:
            return False
        if self.held[i] > self.room and (self.batch or self.entered):
            self.blocked = True
            return False
        self.free -= 1
        self.room -= self.held[i]
        asked_s = heappop(self.callers) if self.closed else self.arrival[i]
        self.asked_s.append(asked_s)
        self.waited_s.append(self.clock - asked_s)
        return True

    def prefill(self) -> None:
        entered, mixed = self.entered, self.rules.mixed and self.batch > 0
        tokens = sum(new for _, new in entered) + (self.batch if mixed else 0)
        self.clock += self.latency + self._rest_s(tokens) + (self._reading_s() if mixed else 0.0)
        self.clock += sum(self.attention[i] * new / (self.prompt[i] - self.cached[i]) for i, new in entered)
        self.prefills.extend((self.step, mixed))
        self.ended_s.append(self.clock)
        if mixed:
            self._advance(1)
        for i, _ in entered[: len(entered) - (self.half is not None)]:
            self._join(i)
        entered.clear()

    def _join(self, i: int) -> None:
        self.joined.append(self.step)
        self.first_s.append(self.clock)
        if self.more[i]:
            self.batch += 1
            self.contexts += self.prompt[i] + 1
            heappush(self.leaving, (self.step + self.more[i], i))
        else:
            self._release(i)

    def idle(self) -> None:
        self.idle_s += self.arrival[self.next] - self.clock
        self.clock = self.arrival[self.next]

    def decode(self) -> None:
        """As many steps as nothing happens in: until somebody leaves, or comes and may enter."""
        steps = self.leaving[0][0] - self.step
        if self.blocked:
            self.held_back.append(self.batch)
        seconds = self.latency + self._rest_s(self.batch) + self._reading_s()
        if not self.closed and self.next < self.count and self.free and not self.blocked:
            steps = max(1, min(steps, ceil((self.arrival[self.next] - self.clock) / seconds)))
        grown = self.key * self.rules.accepted * self.batch * steps * (steps - 1) / 2
        self.clock += steps * seconds + grown
        self._advance(steps)

    def _advance(self, steps: int) -> None:
        self.step += steps
        self.contexts += steps * self.batch * self.rules.accepted
        leaving = self.leaving
        while leaving and leaving[0][0] == self.step:
            _, i = heappop(leaving)
            self.batch -= 1
            self.contexts -= self.prompt[i] + self.more[i] * self.rules.accepted + 1
            self._release(i)

    def _release(self, i: int) -> None:
        self.free += 1
        self.room += self.held[i]
        self.left_s[i] = self.clock
        if self.closed:
            heappush(self.callers, self.clock)

    def _reading_s(self) -> float:
        seconds = self.contexts * self.key
        for window, key in self.windows:
            seconds += min(self.contexts, self.batch * window) * key
        return seconds

    def _rest_s(self, tokens: int) -> float:
        rest = self.rest
        return rest[tokens] if tokens < len(rest) else rest[-1] * tokens / (len(rest) - 1)

    def ended(self) -> Simulated:
        piece_step, piece_request, piece_prefix, piece_new = _ints(self.pieces, 4)
        decoded, mixed = _ints(self.prefills, 2)
        return Simulated(
            joined=_ints(self.joined)[0],
            steps=np.array(self.more, dtype=np.int64),
            asked_s=np.frombuffer(self.asked_s, dtype=np.float64),
            first_s=np.frombuffer(self.first_s, dtype=np.float64),
            left_s=np.array(self.left_s),
            waited_s=np.frombuffer(self.waited_s, dtype=np.float64),
            piece_step=piece_step,
            piece_request=piece_request,
            piece_prefix=piece_prefix,
            piece_new=piece_new,
            decoded=decoded,
            mixed=mixed,
            ended_s=np.frombuffer(self.ended_s, dtype=np.float64),
            held_back=_ints(self.held_back)[0],
            end_s=self.clock,
            idle_s=self.idle_s,
        )


def _ints(found: array[int], width: int = 1) -> list[Ints]:
    """One column for each of every ``width`` numbers."""
    return [np.ascontiguousarray(column) for column in np.frombuffer(found, dtype=np.int64).reshape(-1, width).T]


def held_tokens(requests: Requests, page_size: int) -> Ints:
    """Pool slots of each request to its last token, but for the pages that all share."""
    whole = -(-(requests.prompt + requests.output) // page_size) * page_size
    held: Ints = np.maximum(page_size, whole - requests.shared // page_size * page_size)
    return held
