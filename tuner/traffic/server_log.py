"""A server's own log as traffic: its steps as it printed them, each line for as many steps as lie between two."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from backends.cell import Phase
from tuner.errors import UsageError
from tuner.logs.printed_steps import PrintedSteps
from tuner.traffic.instants import instant
from tuner.traffic.pace import Pace
from tuner.traffic.requests import Floats
from tuner.traffic.steps import Shape, Steps
from tuner.traffic.trace import Limits, Trace

MISSING_PREFIX = "the prefix of a prompt that came in several pieces is in no line of the log: it is not counted"


@dataclass(frozen=True, eq=False)
class ServerLog:
    """``prompts``: lengths that the log shows of single prompts, ascending: what the contexts of a batch are spread like."""

    said: PrintedSteps
    prompts: Floats

    @property
    def sha256(self) -> str:
        return hashlib.sha256(repr((self.said.decode, self.said.prefill, self.said.steps_a_line)).encode()).hexdigest()

    def steps(self, pace: Pace) -> tuple[Steps, ...]:
        return self._decode(pace), self._prefill(pace)

    def prompt_lengths(self) -> tuple[float, float]:
        """Median and 95th percentile of single prompts; without any the mean."""
        median, p95 = np.percentile(self.prompts if len(self.prompts) else [self._mean_prompt()], (50, 95))
        return float(median), float(p95)

    def cached_share(self) -> float:
        new, cached = sum(row[2] for row in self.said.prefill), sum(row[3] for row in self.said.prefill)
        return cached / (new + cached) if new else 0.0

    def output_length(self) -> float:
        """Mean; the log does not say whose a token is."""
        made = self.said.steps_a_line * sum(row[1] * row[3] for row in self.said.decode)
        return made / max(1, sum(row[1] for row in self.said.prefill))

    def _decode(self, pace: Pace) -> Steps:
        rows = self.said.decode
        batch, keys, accepted = (np.array([row[column] for row in rows], dtype=np.float64) for column in (1, 2, 3))
        count = np.full(len(rows), float(self.said.steps_a_line))

        def shape(index: int) -> Shape:
            contexts = self._spread(int(batch[index]), int(keys[index]))
            part = min(1.0, self._mean_prompt() * batch[index] / keys[index])
            return Shape(contexts, (1,) * len(contexts), tuple(max(1, round(context * part)) for context in contexts))

        seconds = pace.decode_attention_s(batch, keys)
        return Steps(Phase.DECODE, count, batch, batch, keys, seconds, batch * accepted, self._at_s(rows), shape)

    def _prefill(self, pace: Pace) -> Steps:
        rows = self.said.prefill
        batch, new, cached = (np.array([row[column] for row in rows], dtype=np.float64) for column in (1, 2, 3))

        def shape(index: int) -> Shape:
            requests = int(batch[index])
            fresh, before = self._spread(requests, int(new[index])), self._spread(requests, int(cached[index]), 0)
            contexts = tuple(map(sum, zip(fresh, before)))
            return Shape(contexts, fresh, contexts)

        each = pace.piece_attention_s((cached / batch).astype(np.int64), (new / batch).astype(np.int64))
        seconds = pace.latency_s + batch * each
        return Steps(Phase.PREFILL, np.ones(len(rows)), batch, new, new + cached, seconds, new, self._at_s(rows), shape)

    def _mean_prompt(self) -> float:
        requests = sum(row[1] for row in self.said.prefill)
        return sum(row[2] + row[3] for row in self.said.prefill) / requests if requests else 1.0

    def _spread(self, requests: int, tokens: int, least: int = 1) -> tuple[int, ...]:
        """``tokens`` over ``requests`` as the prompts differ, in whole numbers."""
        quantiles = (np.arange(requests) + 0.5) / requests
        lengths = np.quantile(self.prompts, quantiles) if len(self.prompts) else np.ones(requests)
        ends = np.round(np.cumsum(lengths) / lengths.sum() * (tokens - least * requests)).astype(np.int64)
        return tuple((np.diff(ends, prepend=0) + least).tolist())

    def _at_s(self, rows: Sequence[tuple[str | None, int, int, float]] | Sequence[tuple[str | None, int, int, int]]) -> Floats:
        """From the first line of either kind; 0 where lines have no time."""
        both = (*self.said.decode[:1], *self.said.prefill[:1])
        first = min((at for row in both if (at := _seconds(row[0])) is not None), default=0.0)
        return np.array([max(0.0, (_seconds(row[0]) or first) - first) for row in rows])


def server_log(said: PrintedSteps, engine: str, name: str) -> Trace:
    """Of the file ``name``. Raises `UsageError` where no step is in it."""
    if not said.decode and not said.prefill:
        raise UsageError(f"traffic.path={name} holds no line of {engine} on a step with requests; give the log of a server under load")
    log = ServerLog(said, np.array(sorted(row[2] + row[3] for row in said.prefill if row[1] == 1), dtype=np.float64))
    limits = Limits(said.running, said.chunk, said.pool, said.mixed)
    rows = len(said.decode) + len(said.prefill) + said.unread
    notes = (
        f"{len(said.decode)} lines on decoding stand for {said.steps_a_line} steps each, {len(said.prefill)} on prefills for one each",
        *([f"lines left out, since they do not say how many requests and tokens a step has: {said.unread}"] if said.unread else []),
        *([MISSING_PREFIX] if said.prefill else ["no prefill is in the log: decoding alone counts"]),
        *([] if said.decode else ["no decoding is in the log: prefills alone count"]),
        *([] if len(log.prompts) else ["no line shows a single prompt: the contexts of a batch are taken as equal"]),
    )
    return Trace(f"{engine} server log", rows, said.unread, notes, None, logged=log, limits=limits)


def _seconds(at: str | None) -> float | None:
    found = instant(at) if at else None
    return found[1] if found else None
