"""The engine's default tree as a picture: a column of branches for each kind of model, asked from the top."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from html import escape

from reports.default_tree import conditions_of, kinds
from store.engines.rule_path import Branch, DefaultTree

COLUMN, BOX, PILL, MARGIN = 470, 300, 110, 20
LINE, PADDING, GAP = 17, 9, 20
WRAP = 40  # characters on a line of a box
TOP = 64
ASKED = "where neither a flag, nor the platform, nor the model's own rule has chosen; the first branch that holds wins"
STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#1f2328}.title{font-size:16px;font-weight:600}.kind{font-weight:600}"
    ".small{fill:#656d76;font-size:12px}.box{fill:#f6f8fa;stroke:#8c959f}.pill{fill:#ddf4ff;stroke:#54aeff}.line{stroke:#8c959f;fill:none}"
)


def render_svg(tree: DefaultTree) -> str:
    """The same for the same tree. What stands in a branch is its condition, beside it the backend; a title holds the reason."""
    groups = list(kinds(tree))
    alone = [branch for kind, branches in groups if not kind for branch in branches]
    columns = [(kind, branches) for kind, branches in groups if kind]
    below = TOP + sum(_height(branch) + GAP for branch in alone)
    parts = [*_column(MARGIN, TOP, alone, last_falls=True)]
    for index, (kind, branches) in enumerate(columns):
        left = MARGIN + index * COLUMN
        parts += [_text(left, below + 12, kind, "kind"), *_column(left, below + 24, branches)]
    height = below + 24 + max(sum(_height(branch) + GAP for branch in branches) for _, branches in columns) + MARGIN
    return "\n".join([*_frame(tree, MARGIN + len(columns) * COLUMN, height), *parts, "</svg>"]) + "\n"


def _frame(tree: DefaultTree, width: int, height: int) -> Iterator[str]:
    title = f"SGLang {tree.rules_version}'s default attention backend"
    yield f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">'
    yield f"<title>{escape(title)}</title><style>{STYLE}</style>"
    yield f'<rect width="{width}" height="{height}" fill="#ffffff"/>'
    yield _text(MARGIN, 26, title, "title")
    yield _text(MARGIN, 46, ASKED, "small")


def _column(left: int, top: int, branches: Sequence[Branch], last_falls: bool = False) -> Iterator[str]:
    for branch in branches:
        height = _height(branch)
        yield from _branch(left, top, height, branch)
        if last_falls or branch is not branches[-1]:
            yield _line(left + BOX // 2, top + height, left + BOX // 2, top + height + GAP)
            yield _text(left + BOX // 2 + 6, top + height + 14, "no", "small")
        top += height + GAP


def _branch(left: int, top: int, height: int, branch: Branch) -> Iterator[str]:
    middle = top + height // 2
    yield f"<g><title>{escape(branch.because)} ({escape(branch.rule)})</title>"
    yield f'<rect class="box" x="{left}" y="{top}" width="{BOX}" height="{height}" rx="6"/>'
    for number, words in enumerate(_wrapped(branch)):
        yield _text(left + 10, top + PADDING + 12 + number * LINE, words)
    yield _line(left + BOX, middle, left + BOX + 20, middle)
    yield f'<rect class="pill" x="{left + BOX + 20}" y="{middle - 13}" width="{PILL}" height="26" rx="13"/>'
    yield _text(left + BOX + 32, middle + 5, branch.backend)
    yield "</g>"


def _wrapped(branch: Branch) -> list[str]:
    return [line for condition in conditions_of(branch) for line in textwrap.wrap(condition, WRAP, subsequent_indent="  ")]


def _height(branch: Branch) -> int:
    return len(_wrapped(branch)) * LINE + 2 * PADDING


def _text(left: int, baseline: int, words: str, style: str = "") -> str:
    named = f' class="{style}"' if style else ""
    return f'<text x="{left}" y="{baseline}"{named} xml:space="preserve">{escape(words)}</text>'


def _line(left: int, top: int, right: int, bottom: int) -> str:
    return f'<path class="line" d="M{left} {top}L{right} {bottom}"/>'
