"""From raw lines to what a server said: runtimes' envelopes opened, long records joined, colours and headers taken off. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from store.serving.verified import Quote
from tuner.logs.files import Raw

ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
CRI = re.compile(r"(?P<at>\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)) (?:stdout|stderr) (?P<more>[PF])(?::\S*)? ?")
MESSAGE_KEYS = ("log", "message", "msg", "event", "text")
# "[pod/name/container] " of kubectl --prefix, "name-1  | " of docker compose, "3: " of srun --label: which of several servers speaks
SOURCE = re.compile(r"\[(pod/[^\]\s]+)\] |([\w.-]+) +\| |(\d{1,4}): ")
CLOCK = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d|\d\d-\d\d \d\d:\d\d:\d\d")
RANKS = re.compile(r"(?<![A-Za-z0-9])(?:DP|TP|PP|EP|CP)\d+(?![A-Za-z0-9])")
# what SGLang and vLLM put before a message, whatever else stands before that
HEADER = re.compile(r".*?(?:\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[^\]]*\]|\[[\w./-]+\.py:\d+\])\s*")
MOST_HEADER = 400  # characters: a message may hold brackets of its own
REQUESTS = ("Receive: obj=", "Finish: obj=", "Received request ")  # what users wrote, which may say anything


@dataclass(frozen=True)
class Line:
    """``text``: the message; ``source`` tells apart the servers that share a log."""

    text: str
    where: str
    at: str | None
    ranks: str | None
    source: str

    def quote(self, text: str | None = None) -> Quote:
        return Quote(self.text if text is None else text, self.where, self.at, self.ranks)


class _Opened(NamedTuple):
    text: str
    at: str | None
    unfinished: bool  # the next line goes on


def lines(raw: Iterable[Raw], log: str = "", words: tuple[str, ...] = ()) -> Iterator[Line]:
    """Those that hold one of ``words`` (none: all), which is told fast. ``log`` is part of each line's source."""
    held, place, at = "", "", None
    for each in raw:
        opened = _opened(each.text)
        if not held:
            place, at = each.place, opened.at
        held += opened.text
        if not opened.unfinished:
            yield from (_line(part, place, at, log) for part in _messages(held, words))
            held = ""
    yield from (_line(part, place, at, log) for part in _messages(held, words))


def _opened(text: str) -> _Opened:
    """Docker's and Kubernetes' files cut records at 16 KiB, which is less than SGLang's arguments take."""
    if match := CRI.match(text):
        return _Opened(text[match.end() :], match["at"], match["more"] == "P")
    if text.startswith("{") and (fields := _json(text)) is not None:
        message = next((fields[key] for key in MESSAGE_KEYS if isinstance(fields.get(key), str)), None)
        if message is not None:
            at = next((str(fields[key]) for key in ("time", "timestamp", "asctime", "ts") if key in fields), None)
            return _Opened(message.rstrip("\n"), at, "log" in fields and "stream" in fields and not message.endswith("\n"))
    return _Opened(text, None, False)


def _json(text: str) -> dict[str, Any] | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _messages(text: str, words: tuple[str, ...]) -> Iterator[str]:
    """A bar that redraws itself leaves its line ends (carriage returns) in the middle of others' lines."""
    for part in (ANSI.sub("", text) if "\x1b" in text else text).split("\r"):
        if part and (not words or any(word in part for word in words)) and not any(mark in part for mark in REQUESTS):
            yield part


def _line(text: str, where: str, at: str | None, log: str) -> Line:
    source = SOURCE.match(text)
    rest = text[source.end() :] if source else text
    header = HEADER.match(rest, 0, MOST_HEADER)
    before = rest[: header.end()] if header else rest[:MOST_HEADER]
    clock, ranks = CLOCK.search(before), RANKS.findall(before) if header else []
    who = next((part for part in source.groups() if part), "") if source else ""
    return Line(
        text=rest[header.end() :] if header else rest,
        where=where,
        at=clock[0] if clock else at,
        ranks=" ".join(dict.fromkeys(ranks)) or None,
        source=f"{log}|{who}",
    )
