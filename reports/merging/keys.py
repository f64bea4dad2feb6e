"""A mapping that holds flags as keys: what of it stays, what is changed, added and taken out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from reports.launchers.entries import Entry
from reports.launchers.mark import mark
from reports.merging.block import block, dotted, grouped, inner, name_of, plain
from reports.merging.errors import Conflict, MergeError
from reports.merging.steps import Change, Step, Wanted
from reports.merging.text import Edit, added, indent, line_end, line_start, mark_above, rewritten

Pair = tuple[ScalarNode, Node]


def steps(text: str, node: MappingNode, wanted: Wanted, under: str = "") -> Iterator[Step]:
    """What it takes to have ``wanted`` in ``node``: edits of ``text``, what they change, and what stands against them."""
    pairs = {key_of(key): (key, value) for key, value in node.value}
    if node.flow_style and _is_written(pairs, wanted):
        raise MergeError(f"has {under or 'its keys'} in braces, which leave no room for a reason; write one key a line")
    new: list[Entry] = []
    for name, its in grouped(wanted.entries).items():
        if name not in pairs:
            new += its
            yield from _inherited(node, its[0], wanted, under)
        elif len(its[0].path) == 1:
            yield from _kept(text, *pairs[name], its[0], wanted, under)
        else:
            yield from _within(text, pairs[name], its, wanted, f"{under}{name}.")
    yield from _without(text, pairs, {name_of(entry) for entry in wanted.entries}, under)
    if new:
        yield added(text, end_of(text, node.value[-1]), block(new, node.start_mark.column, wanted.run))
        yield from (Change(under + dotted(entry), None, entry.text) for entry in new)


def key_of(node: Any) -> str:
    """Engines read "page_size" as "page-size"."""
    return str(node.value).replace("_", "-") if isinstance(node, ScalarNode) else ""


def is_alias(key: Node, value: Node) -> bool:
    """Whether the value stands elsewhere, under an anchor."""
    return bool(value.start_mark.index < key.start_mark.index)


def end_of(text: str, pair: tuple[Node, Node]) -> int:
    """Where the line after a pair begins."""
    return line_end(text, _last(pair))


def _last(pair: tuple[Any, Any]) -> int:
    """The end of the last scalar; a collection's own end mark lies behind the comments that follow it."""
    key, value = pair
    if is_alias(key, value):
        return int(key.end_mark.index)
    if isinstance(value, ScalarNode):
        return int(max(key.end_mark.index, value.end_mark.index) if value.value or value.style else key.end_mark.index)
    if value.flow_style:
        return int(value.end_mark.index)
    last = value.value[-1]
    return _last(last if isinstance(last, tuple) else (last, last))


def _inherited(node: MappingNode, entry: Entry, wanted: Wanted, under: str) -> Iterator[Conflict]:
    """A value that comes through a merge key and that the pin's would hide."""
    for key, value in node.value:
        for each in (value.value if isinstance(value, SequenceNode) else [value]) if key.value == "<<" else ():
            theirs = {key_of(name): its for name, its in each.value}.get(name_of(entry)) if isinstance(each, MappingNode) else None
            if theirs is not None and theirs.value != entry.text and not wanted.replace:
                yield Conflict(under + name_of(entry), str(theirs.value), entry.text, inherited=True)


def _kept(text: str, key: ScalarNode, value: Node, entry: Entry, wanted: Wanted, under: str) -> Iterator[Step]:
    """A key that is there already."""
    if not isinstance(value, ScalarNode):
        raise MergeError(f"has a list or mapping as {key.value}, which is a single value in the pin; set it by hand")
    ours = mark_above(text, key, value.value)
    if not ours and value.value == entry.text:
        return
    if not ours and not wanted.replace:
        yield Conflict(under + key_of(key), value.value, entry.text)
        return
    yield from _set(text, key, value, entry, ours, wanted.run, under)


def _set(text: str, key: ScalarNode, value: ScalarNode, entry: Entry, ours: Edit | None, run: str, under: str) -> Iterator[Step]:
    at = line_start(text, key.start_mark.index)
    above = added(text, at, [f"{indent(text, key.start_mark.index)}# {mark(run, entry.text, entry.because)}"])
    yield Edit(ours.start, ours.end, above.text) if ours else above
    if value.value != entry.text:
        if is_alias(key, value):
            raise MergeError(f"has {key.value} as an alias of another value; write it out")
        yield rewritten(text, value, entry.text, plain(entry))
        yield Change(under + key_of(key), value.value, entry.text)


def _within(text: str, pair: Pair, entries: Iterable[Entry], wanted: Wanted, under: str) -> Iterator[Step]:
    value = pair[1]
    if not isinstance(value, MappingNode) or is_alias(*pair):
        raise MergeError(f"has {pair[0].value} as a single value or an alias, and the pin sets keys below it; write it as a mapping")
    yield from steps(text, value, Wanted(tuple(map(inner, entries)), wanted.run, wanted.replace), under)


def _without(text: str, pairs: dict[str, Pair], stay: set[str], under: str) -> Iterator[Step]:
    """Keys that attnpin set and the pin does not; a mapping that loses all its keys goes too."""
    for name, (key, value) in pairs.items():
        if name in stay or is_alias(key, value):
            continue
        if isinstance(value, ScalarNode) and (ours := mark_above(text, key, value.value)):
            yield Edit(ours.start, end_of(text, (key, value)), "")
            yield Change(under + name, value.value, None)
        elif isinstance(value, MappingNode) and not value.flow_style and value.value:
            yield from _emptied(text, (key, value), f"{under}{name}.")


def _emptied(text: str, pair: Pair, under: str) -> Iterator[Step]:
    key, value = pair
    pairs = {key_of(each): (each, its) for each, its in value.value}
    found = list(_without(text, pairs, set(), under))
    changes = [step for step in found if isinstance(step, Change)]
    if changes and len(changes) == len(pairs):
        yield Edit(line_start(text, key.start_mark.index), end_of(text, pair), "")
        yield from changes
    else:
        yield from found


def _is_written(pairs: dict[str, Pair], wanted: Wanted) -> bool:
    """Whether anything of the pin's is not there yet."""
    return any(len(entry.path) > 1 or entry.path[0] not in pairs or pairs[entry.path[0]][1].value != entry.text for entry in wanted.entries)
