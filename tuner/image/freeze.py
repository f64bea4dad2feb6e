"""The text of `pip freeze` and `uv pip freeze`: one distribution a line."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tuner.image.listing import Listed, Listing, listed, merged

FORM = "pip freeze"
NAME = r"(?P<name>[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)"
PINNED = re.compile(rf"{NAME}(?:\[[^\]]*\])?\s*={{2,3}}\s*(?P<version>[^\s;\\,]+)\s*(?:;.*)?\\?")
LOCATED = re.compile(rf"{NAME}(?:\[[^\]]*\])?\s*@\s*(?P<url>\S+)\s*(?:;.*)?\\?")
EDITABLE = re.compile(r"(?:-e|--editable)[\s=]+(?P<url>\S.*)")
NAMED_EDITABLE = re.compile(rf"# Editable .*\({NAME}={{2,3}}(?P<version>[^\s)]+)\)")  # pip's comment above an -e without a repository
EGG = re.compile(rf"[#&]egg={NAME}")
OPTION = re.compile(r"-(?:-[a-z-]+|i|f)(?:[\s=].*)?")
ELSEWHERE = re.compile(r"(?:-r|--requirement|-c|--constraint)\b.*")


class NotFrozen(ValueError):
    """A line that names no installed distribution; the text says which."""


def read_freeze(text: str) -> Listing:
    """Raises `NotFrozen` at the first line that `pip freeze` does not write."""
    found, unnamed, above = list[Listed](), list[str](), None
    for number, line in enumerate(map(str.strip, text.splitlines()), 1):
        if editable := EDITABLE.fullmatch(line):
            named = _editable(editable["url"], above)
            found += named
            unnamed += [] if named else [editable["url"]]
        else:
            found += _plain(line, number)
        above = NAMED_EDITABLE.fullmatch(line)
    return Listing(FORM, merged(found), unnamed=tuple(unnamed))


def _plain(line: str, number: int) -> Iterator[Listed]:
    line = line.partition(" #")[0].rstrip()
    if not line or line.startswith("#") or (OPTION.fullmatch(line) and not ELSEWHERE.fullmatch(line)):
        return
    if pinned := PINNED.fullmatch(line):
        yield listed(pinned["name"], pinned["version"])
    elif located := LOCATED.fullmatch(line):
        yield listed(located["name"], None, located["url"])
    else:
        raise NotFrozen(f"line {number}, {line[:60]!r}, names no installed version")


def _editable(url: str, above: re.Match[str] | None) -> list[Listed]:
    """By the name in the URL, else by the comment above; none where neither tells it."""
    if egg := EGG.search(url):
        return [listed(egg["name"], None, url.partition("#")[0])]
    return [] if above is None else [listed(above["name"], above["version"], url)]
