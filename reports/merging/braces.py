"""A mapping that holds nothing, "args: {}", on its way to one with keys and back."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ruamel.yaml.nodes import MappingNode

from reports.merging.block import STEP, block
from reports.merging.steps import Wanted
from reports.merging.text import Edit, added, line_end, line_start

KEY = re.compile(r"(?P<key>.*?:)(?=\s|$)")


def opened(text: str, node: MappingNode, wanted: Wanted) -> Iterable[Edit]:
    """The braces go, and the lines of the entries stand below their key."""
    start, end = node.start_mark.index, node.end_mark.index
    line = text[line_start(text, start) : start]
    column = len(line) - len(line.lstrip()) + (STEP if line.strip() else 0)
    yield Edit(start - (len(line) - len(line.rstrip())), end, "")
    yield added(text, line_end(text, end), block(wanted.entries, column, wanted.run))


def closed(text: str, node: MappingNode) -> Iterable[Edit]:
    """Braces behind the key of a mapping that loses all it had: nothing at all would be null."""
    at = line_start(text, node.start_mark.index)
    while at > 0:
        at = line_start(text, at - 1)
        line = text[at : line_end(text, at + 1)]
        if line.strip() and not line.strip().startswith("#"):
            found = KEY.match(line)
            yield from [Edit(at + found.end(), at + found.end(), " {}")] if found else []
            return
