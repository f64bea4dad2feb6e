"""A pin's keys put into the text of a YAML file, which otherwise stays as it is, byte for byte.

ruamel.yaml says where each key and value stands; the text itself is cut there and nowhere else, since writing a parsed file anew
would change quotes, widths and blanks of the user's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ruamel.yaml.nodes import MappingNode, ScalarNode, SequenceNode

from reports.launchers.entries import Form
from reports.launchers.launcher import Launcher, entries_of
from reports.merging import keys, words
from reports.merging.block import block, dotted
from reports.merging.braces import closed, opened
from reports.merging.documents import composed
from reports.merging.errors import Conflict, Conflicts
from reports.merging.places import Found, body, chosen
from reports.merging.proof import prove, said
from reports.merging.steps import Change, Step, Wanted
from reports.merging.text import Edit, added, edited
from store.pins.pin import Pin


@dataclass(frozen=True)
class Merged:
    """``text`` is that of the file afterwards, ``changes`` what is new in it; ``strangers`` are flags of the launcher's that stand
    there, are not attnpin's and are none of the pin's: name and value."""

    text: str
    changes: tuple[Change, ...]
    strangers: tuple[tuple[str, str], ...] = ()


def merge(text: str, pin: Pin, launcher: Launcher, at: Sequence[str] = (), replace: bool = False) -> Merged:
    """Raises `MergeError`, and `Conflicts` for keys of the user's own that ``replace`` would give up; `ExportError`."""
    wanted = Wanted(entries_of(pin, launcher), pin.run, replace)
    found = chosen(text, launcher.places, launcher.engine, at)
    steps = [step for each in found for step in _steps(text, each, wanted)]
    if conflicts := [step for step in steps if isinstance(step, Conflict)]:
        raise Conflicts(dict.fromkeys(conflicts))
    after = edited(text, [step for step in steps if isinstance(step, Edit)])
    changes = tuple(step for step in steps if isinstance(step, Change))
    prove(text, after, found, frozenset((*(change.key for change in changes), *map(dotted, wanted.entries))))
    return Merged(after, changes, tuple(_strangers(text, found, launcher, {change.key for change in changes}, wanted)))


def _steps(text: str, found: Found, wanted: Wanted) -> Iterator[Step]:
    if found.form is Form.WORDS and isinstance(found.node, SequenceNode):
        yield from words.steps(text, found.node, wanted)
    elif found.form is Form.TEXT and isinstance(found.node, ScalarNode):
        yield from _in_block(text, found.node, wanted)
    elif isinstance(found.node, MappingNode):
        yield from _in_mapping(text, found.node, wanted)
    else:
        yield from _alone(text, len(text), 0, wanted)


def _in_mapping(text: str, node: MappingNode, wanted: Wanted) -> Iterator[Step]:
    if not node.value:
        yield from opened(text, node, wanted) if wanted.entries else ()
        yield from _all_new(wanted)
        return
    steps = list(keys.steps(text, node, wanted))
    gone = [step for step in steps if isinstance(step, Change) and step.after is None]
    yield from steps
    if len(gone) == len(node.value) and not wanted.entries and node.start_mark.column > 0:
        yield from closed(text, node)


def _in_block(text: str, node: ScalarNode, wanted: Wanted) -> Iterator[Step]:
    """The lines of the block are YAML as they stand, their common indentation included."""
    start, end = body(text, node), node.end_mark.index
    (root,) = composed(text[start:end])
    if isinstance(root, MappingNode):
        found = keys.steps(text[start:end], root, wanted)
        yield from (step.moved(start) if isinstance(step, Edit) else step for step in found)
    else:
        first = next(line for line in text[start:end].splitlines() if line.strip())
        yield from _alone(text, end, len(first) - len(first.lstrip()), wanted)


def _alone(text: str, at: int, column: int, wanted: Wanted) -> Iterator[Step]:
    """Where no key stands yet."""
    yield added(text, at, block(wanted.entries, column, wanted.run))
    yield from _all_new(wanted)


def _all_new(wanted: Wanted) -> Iterator[Change]:
    yield from (Change(dotted(entry), None, entry.text) for entry in wanted.entries)


def _strangers(text: str, found: Sequence[Found], launcher: Launcher, changed: set[str], wanted: Wanted) -> Iterator[tuple[str, str]]:
    known = {name.replace("_", "-") for name in launcher.flags.values()} - changed - set(map(dotted, wanted.entries))
    yield from dict.fromkeys((name, value) for each in found for name, value in said(text, each).items() if name in known)
