"""From rows to requests: lengths and times checked one by one, what is wrong counted, what all of them are like said."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from itertools import islice

import numpy as np

from tuner.errors import UsageError
from tuner.traffic import benchmarks, texts
from tuner.traffic.arrivals import Arrived, as_written, drawn, in_turns
from tuner.traffic.blocks import Blocks
from tuner.traffic.columns import Columns, at, layout_of, tokens, unit_s
from tuner.traffic.instants import NAMES, RELATIVE, instant
from tuner.traffic.requests import Requests
from tuner.traffic.rows import Bad, Row, Value
from tuner.traffic.trace import How, Refused, Trace

HOPELESS = 10_000  # rows without a request: the rest of such a file is not read
NO_TIME, UNKNOWN = "its time is no time", "no tokens of a prompt and of an output"


def gather(rows: Iterable[Row], name: str, how: How) -> Trace:
    """Raises `UsageError` where no or hardly any row is a request, and where times of two kinds are mixed."""
    taken = _Taken(name, how)
    for number, row in rows:
        if isinstance(row, Bad):
            taken.refuse(number, row.why)
        else:
            taken.take(number, row)
        taken.more = len(taken.prompt) >= how.most_requests
        if taken.more or (not taken.prompt and taken.rows >= HOPELESS):
            break
    return taken.trace()


class _Taken:
    def __init__(self, name: str, how: How) -> None:
        self.name, self.how, self.refused, self.rows = name, how, Refused(), 0
        self.columns: Columns | None = None
        self.layout, self.more, self.known = "", False, ""
        self.unit: float | None = None
        self.prompt, self.output, self.cached, self.talk, self.turn = (array("q") for _ in range(5))
        self.arrival_s = array("d")
        self.kind: tuple[str, int] | None = None  # of time, and the row that showed it first
        self.blocks = Blocks(how.tokens_per_block)
        self.result: Value | None = None

    def refuse(self, number: int, why: str) -> None:
        self.rows += 1
        self.refused.add(why, number)

    def take(self, number: int, row: Value) -> None:
        if benchmarks.is_result(row):
            self._take_result(row)
            return
        self.layout = self.layout or self._recognised(row)
        self.rows += 1
        if not self.layout:
            why: str | None = UNKNOWN
        else:
            why = self._measure(number, row, self.columns) if self.columns else self._converse(row)
        if why:
            self.refused.add(why, number)

    def _take_result(self, row: Value) -> None:
        """The last of several results in a file."""
        for column in (self.prompt, self.output, self.cached, self.arrival_s):
            del column[:]
        self.rows, self.refused, self.layout, self.result, self.columns = 0, Refused(), "benchmark result", row, None
        for number, each in enumerate(islice(benchmarks.requests_of(row, self.name), self.how.most_requests), 1):
            self.columns = self.columns or Columns("arrival_s" if "arrival_s" in each else None, "prompt_tokens", "output_tokens")
            self.rows += 1
            if why := self._measure(number, each, self.columns):
                self.refused.add(why, number)

    def _recognised(self, row: Value) -> str:
        """The layout, "" where the row shows none: it may be a head before the others."""
        if found := layout_of(row, self.how.columns):
            name, self.columns = found
            self.unit = unit_s(self.columns)
            return name
        self.known = self.known or ", ".join(list(row)[:12]) or "none"
        return "conversations" if texts.is_text(row) else ""

    def _measure(self, number: int, row: Value, columns: Columns) -> str | None:
        prompt, output = tokens(at(row, columns.prompt or ""), "prompt", 1), tokens(at(row, columns.output or ""), "output", 1)
        if isinstance(prompt, str) or isinstance(output, str):
            return prompt if isinstance(prompt, str) else str(output)
        cached = self._cached(row, columns, prompt)
        if isinstance(cached, str):
            return cached
        if columns.arrival:
            found = instant(at(row, columns.arrival), self.unit)
            if found is None:
                return NO_TIME
            self._same_kind(number, found[0])
            self.arrival_s.append(found[1])
        self.prompt.append(prompt)
        self.output.append(output)
        self.cached.append(cached)
        return None

    def _cached(self, row: Value, columns: Columns, prompt: int) -> int | str:
        if columns.blocks:
            return self.blocks.found(at(row, columns.blocks), prompt)
        if columns.cached:
            found = tokens(at(row, columns.cached) or 0, "cached", 0)
            return "more cached than prompt tokens" if isinstance(found, int) and found > prompt else found
        return int(self.how.cached_share * prompt)

    def _same_kind(self, number: int, kind: str) -> None:
        self.kind = self.kind or (kind, number)
        if kind != self.kind[0]:
            raise UsageError(
                f"traffic.path={self.name} mixes {self.kind[0]} (row {self.kind[1]}) and {kind} (row {number}); write all times in one unit"
            )

    def _converse(self, row: Value) -> str | None:
        found = texts.requests_in(row)
        if isinstance(found, str):
            return found
        talk = self.talk[-1] + 1 if self.talk else 0
        for turn, (prompt, output, cached) in enumerate(found):
            self.prompt.append(prompt)
            self.output.append(output)
            self.cached.append(cached)
            self.talk.append(talk)
            self.turn.append(turn)
        return None

    def trace(self) -> Trace:
        count, bad = len(self.prompt), self.refused.count
        if self.known and not self.layout:
            raise UsageError(
                f"traffic.path={self.name} has no column that is known as the tokens of a prompt and of an output (it has {self.known}); "
                f"name them with traffic.trace.columns.prompt=NAME and traffic.trace.columns.output=NAME"
            )
        worst = next(self.refused.sentences(), "")
        if not count:
            raise UsageError(f"traffic.path={self.name} holds no request{f': {worst}' if worst else ''}; check the file and its columns")
        if bad > self.rows / 2:
            raise UsageError(f"{bad} of {self.rows} rows of traffic.path={self.name} cannot be used: {worst}; correct them or the columns")
        columns = [np.frombuffer(column, dtype=np.int64) for column in (self.prompt, self.output, self.cached)]
        arrived = self._arrived()
        order, arrival_s = arrived.order, arrived.arrival_s
        shared = self.how.shared or self.blocks.shared()
        prompt, output, cached = (column[order] for column in columns)
        requests = Requests(None if arrival_s is None else arrival_s[order], prompt, output, cached, shared)
        at_once = (benchmarks.at_once_of(self.result or {}) or self.how.at_once) if arrival_s is None else None
        return Trace(self.layout, self.rows, bad, (*self.refused.sentences(), *arrived.notes, *self._said(count)), requests, at_once)

    def _arrived(self) -> Arrived:
        if len(self.arrival_s):
            relative = NAMES[self.unit or 1.0] if self.kind and self.kind[0] == RELATIVE else None
            return as_written(np.frombuffer(self.arrival_s, dtype=np.float64), relative)
        order = in_turns(self.talk, self.turn, self.how.at_once) if self.talk else np.arange(len(self.prompt))
        rate = self.how.requests_per_s or benchmarks.rate_of(self.result or {})
        return Arrived(None, order) if rate is None else drawn(order, rate, self.how.seed)

    def _said(self, count: int) -> Iterable[str]:
        if self.more:
            yield f"the file goes on: its first {count} requests stand for it (traffic.trace.most_requests)"
        if count == 1:
            yield "one request is all there is: the cells are those of that request alone"
        if self.layout == "conversations":
            yield texts.ESTIMATED
        if self.columns and self.columns.blocks:
            yield f"prefixes are found by their blocks of {self.how.tokens_per_block} tokens, as if the cache lost none"
