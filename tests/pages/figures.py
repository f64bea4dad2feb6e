"""Figures in a page of Markdown, each with where it comes from.

Below a paragraph or table stands a comment that lists its figures in their order, one a line, each with its citation:

    FlashInfer takes 1.96 times as long there and is 3 % behind elsewhere.

    <!-- figures
    1.96  qwen3_8b-h200/decode-64/flashinfer / qwen3_8b-h200/decode-64/fa3
    3 %   qwen3_8b-h200/decode-fullest/flashinfer / qwen3_8b-h200/decode-fullest/fa3 - 1
    -->

A figure keeps the decimals it is written with. A page that cites at all cites everything that looks measured: numbers with
a unit, and numbers with decimals in tables. Code is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

COMMENT = re.compile(r"<!-- figures\n(?P<lines>.*?)-->", re.DOTALL)
LINE = re.compile(r"(?P<shown>\d+(?:\.(?P<decimals>\d+))?)(?P<percent> %)?\s+(?P<citation>\S.*)")
CODE = re.compile(r"^```.*?^```|^(?: {4}|\t).*?$|`[^`\n]+`|<!--.*?-->", re.DOTALL | re.MULTILINE)
MEASURED = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?= (?:us|ms|s|GiB|times)\b| %)")
IN_A_TABLE = re.compile(r"(?<![\w.])\d+\.\d+(?![\w.])")


@dataclass(frozen=True)
class Renewed:
    """A page with the figures that its citations give today, and a sentence for whatever is wrong with it as it stands."""

    text: str
    problems: tuple[str, ...]


@dataclass(frozen=True)
class Claim:
    """``shown`` is the figure as written, ``today`` as its citation gives it."""

    shown: str
    today: str
    citation: str

    @property
    def problem(self) -> str | None:
        return None if self.shown == self.today else f"{self.shown} is {self.today} by {self.citation}"


def renewed(page: str, value: Callable[[str], float]) -> Renewed:
    """``value`` works a citation out; what it raises passes through."""
    written: list[str] = []
    problems: list[str] = []
    uncited: list[str] = []
    position = 0
    for comment in COMMENT.finditer(page):
        above, claims = page[position : comment.start()], [_claim(line, value) for line in comment["lines"].splitlines()]
        block = above.rstrip().rfind("\n\n") + 1
        text, rest, missing = _replaced(above[block:], claims)
        written += [above[:block], text, _comment(claims)]
        uncited += [above[:block], rest]
        problems += [claim.problem for claim in claims if claim.problem] + missing
        position = comment.end()
    uncited.append(page[position:])
    if position:
        problems += [f"{figure} cites nothing" for figure in measured("\n".join(uncited))]
    return Renewed("".join(written) + page[position:], tuple(problems))


def _claim(line: str, value: Callable[[str], float]) -> Claim:
    found = LINE.fullmatch(line.strip())
    if found is None:
        raise SyntaxError(f"a line of a figures comment is a figure and its citation, not {line!r}")
    percent = found["percent"] or ""
    number = value(found["citation"]) * (100 if percent else 1)
    return Claim(found["shown"] + percent, f"{number:.{len(found['decimals'] or '')}f}{percent}", found["citation"])


def _comment(claims: list[Claim]) -> str:
    width = max((len(claim.today) for claim in claims), default=0)
    return "".join(["<!-- figures\n", *(f"{claim.today:<{width}}  {claim.citation}\n" for claim in claims), "-->"])


def _replaced(block: str, claims: list[Claim]) -> tuple[str, str, list[str]]:
    """The block with today's figures, what of it no claim covers, and a sentence for each claim that it does not hold."""
    written, rest, missing, position = "", "", [], 0
    for claim in claims:
        found = re.compile(rf"(?<![\w.]){re.escape(claim.shown)}(?!\d|\.\d)").search(block, position)
        if found is None:
            missing.append(f"{claim.shown} is cited but does not stand in the text above, or not in this order")
            continue
        between = block[position : found.start()]
        written, rest, position = written + between + claim.today, rest + between + "*", found.end()
    return written + block[position:], rest + block[position:], missing


def measured(text: str) -> Iterator[str]:
    """What looks like a measured figure in ``text``, code aside."""
    prose = CODE.sub("", text)
    yield from (found[0] for found in MEASURED.finditer(prose))
    for line in prose.splitlines():
        if line.startswith("|"):
            yield from (found[0] for found in IN_A_TABLE.finditer(MEASURED.sub("", line)))
