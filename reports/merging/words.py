"""A list of words that holds flags, as a container's command does: what of it stays, what is changed, added and taken out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from ruamel.yaml.nodes import ScalarNode, SequenceNode

from reports.launchers.entries import Entry
from reports.launchers.mark import mark
from reports.launchers.started import started
from reports.merging.errors import Conflict, MergeError
from reports.merging.steps import Change, Step, Wanted
from reports.merging.text import Edit, added, indent, line_end, line_start, mark_above, rewritten, word

FLAG = re.compile(r"--(?P<name>[\w-]+)(?:(?P<between>[= ])(?P<value>.*))?", re.DOTALL)
SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ash"})


@dataclass(frozen=True)
class Said:
    """A flag in the list: the item that names it, and the one that holds its value (the same one in "--name=value")."""

    item: ScalarNode
    holder: ScalarNode
    value: str
    before: str  # of the value, in its item


def steps(text: str, node: SequenceNode, wanted: Wanted) -> Iterator[Step]:
    """As `reports.merging.keys.steps`."""
    said = flags(node)
    if is_shell(node):
        raise MergeError("starts a shell there, whose line is one word; set the flags in that line by hand")
    if node.flow_style and any(said.get(_name(entry)) is None or said[_name(entry)].value != entry.text for entry in wanted.entries):
        raise MergeError("has its words in brackets, which leave no room for a reason; write one word a line")
    new = [entry for entry in wanted.entries if _name(entry) not in said]
    for entry in wanted.entries:
        if found := said.get(_name(entry)):
            yield from _kept(text, found, entry, wanted)
    for name in [name for name in said if name not in map(_name, wanted.entries)]:
        yield from _without(text, name, said[name])
    if new:
        blanks = " " * node.start_mark.column
        at = line_end(text, node.value[-1].end_mark.index)
        yield added(text, at, [line for entry in new for line in _lines(entry, blanks, wanted.run)])
        yield from (Change(_name(entry), None, entry.text) for entry in new)


def flags(node: Any) -> dict[str, Said]:
    """By name; of a flag that stands there twice the last, which is the one that counts."""
    return dict(_flags([item for item in node.value if isinstance(item, ScalarNode)]))


def _flags(items: list[ScalarNode]) -> Iterator[tuple[str, Said]]:
    for item, after in zip(items, [*items[1:], None]):
        if (found := FLAG.fullmatch(item.value)) is None:
            continue
        name = found["name"].replace("_", "-")
        if found["between"]:
            yield name, Said(item, item, found["value"], item.value[: found.start("value")])
        elif after is None or after.value.startswith("--"):
            yield name, Said(item, item, "", f"{item.value}=")
        else:
            yield name, Said(item, after, after.value, "")


def is_shell(node: SequenceNode) -> bool:
    """Whether a shell starts there, or a whole command is one of the words, for a shell that stands elsewhere."""
    words = words_of(node)
    if any(started(each.split()) for each in words):
        return True
    return any(PurePosixPath(each).name in SHELLS for each in words) and any(re.fullmatch(r"-\w*c", each) for each in words)


def words_of(node: Any) -> list[str]:
    return [item.value for item in node.value if isinstance(item, ScalarNode)]


def _kept(text: str, found: Said, entry: Entry, wanted: Wanted) -> Iterator[Step]:
    ours = mark_above(text, found.item, found.value)
    if not ours and found.value == entry.text:
        return
    if not ours and not wanted.replace:
        yield Conflict(_name(entry), found.value or "without a value", entry.text)
        return
    at = line_start(text, found.item.start_mark.index)
    above = added(text, at, [f"{indent(text, _dash(text, found.item))}# {mark(wanted.run, entry.text, entry.because)}"])
    yield Edit(ours.start, ours.end, above.text) if ours else above
    if found.value != entry.text:
        whole = found.before + entry.text
        yield rewritten(text, found.holder, whole, word(whole))
        yield Change(_name(entry), found.value, entry.text)


def _without(text: str, name: str, found: Said) -> Iterator[Step]:
    if ours := mark_above(text, found.item, found.value):
        yield Edit(ours.start, line_end(text, found.holder.end_mark.index), "")
        yield Change(name, found.value, None)


def _lines(entry: Entry, blanks: str, run: str) -> Iterator[str]:
    yield f"{blanks}# {mark(run, entry.text, entry.because)}"
    yield f"{blanks}- --{_name(entry)}"
    yield f"{blanks}- {word(entry.text)}"


def _dash(text: str, item: ScalarNode) -> int:
    return text.rindex("-", line_start(text, item.start_mark.index), item.start_mark.index)


def _name(entry: Entry) -> str:
    if len(entry.path) > 1:
        raise MergeError(f"takes no {'.'.join(entry.path)}: keys that nest are no words; choose another place with --at")
    return entry.path[0]
