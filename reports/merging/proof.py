"""Reading the file anew: the pin's flags are there, and all else says what it said before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ruamel.yaml.nodes import MappingNode, ScalarNode, SequenceNode

from reports.launchers.entries import Form
from reports.merging.documents import composed
from reports.merging.errors import MergeError
from reports.merging.keys import key_of
from reports.merging.places import Found, body
from reports.merging.words import flags

Forms = Mapping[str, Form]


def said(text: str, found: Found) -> dict[str, str]:
    """The flags at a place of ``text`` by name ("attention-config.backend"), values as they are written."""
    node: Any = found.node
    if found.form is Form.WORDS:
        return {name: each.value for name, each in flags(node).items()}
    if found.form is Form.TEXT:
        (node,) = composed(text[body(text, node) : node.end_mark.index])
    return dict(_flat(node, ""))


def prove(before: str, after: str, found: Sequence[Found], touched: frozenset[str]) -> None:
    """Raises `MergeError` where more than ``touched`` differs: the text was written in a way that its cuts do not fit."""
    forms = {each.label: each.form for each in found}
    try:
        same = _outside(before, forms, touched) == _outside(after, forms, touched)
    except MergeError:
        same = False
    if not same:
        raise MergeError("is written in a way that cannot be edited without touching other keys; set the pin's flags by hand")


def _outside(text: str, forms: Forms, touched: frozenset[str]) -> list[Any]:
    documents = composed(text)
    many = len(documents) > 1
    return [_content(text, root, f"{number}:" if many else "", forms, touched) for number, root in enumerate(documents, 1)]


def _content(text: str, node: Any, label: str, forms: Forms, touched: frozenset[str]) -> Any:
    """What a node says, without ``touched`` at the places in ``forms``."""
    form = forms.get(label)
    if form is Form.WORDS:
        gone = {id(part) for name, each in flags(node).items() if name in touched for part in (each.item, each.holder)}
        return [_content(text, part, label, {}, touched) for part in node.value if id(part) not in gone]
    if form is not None:
        return {name: value for name, value in said(text, Found(label, form, node)).items() if name not in touched}
    if isinstance(node, MappingNode):
        return [(key_of(key), _content(text, value, _under(label, str(key.value)), forms, touched)) for key, value in node.value]
    if isinstance(node, SequenceNode):
        return [_content(text, value, _under(label, str(index)), forms, touched) for index, value in enumerate(node.value)]
    return None if node is None else (node.tag, node.value)


def _under(label: str, name: str) -> str:
    return f"{label}{'' if not label or label.endswith(':') else '.'}{name}"


def _flat(node: Any, under: str) -> Iterator[tuple[str, str]]:
    for key, value in node.value if isinstance(node, MappingNode) else ():
        name = under + key_of(key)
        if isinstance(value, ScalarNode):
            yield name, value.value
        else:
            yield from _flat(value, f"{name}.")
    if isinstance(node, SequenceNode):
        yield from ((f"{under}{index}", str(value.value)) for index, value in enumerate(node.value))
