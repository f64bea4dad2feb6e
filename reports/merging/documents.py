"""A YAML text as the nodes that stand in it, each with its place."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from reports.merging.errors import MergeError

LONE_RETURN = re.compile(r"\r(?!\n)")


def composed(text: str) -> list[Node | None]:
    """The documents; an empty file is one that holds nothing. Raises `MergeError` for what is no YAML, for line ends
    that Python and YAML do not both take for one, and for a key twice in a mapping."""
    if LONE_RETURN.search(text):
        raise MergeError("has a carriage return that ends no line as others do; write line feeds")
    yaml: Any = YAML(typ="safe", pure=True)
    yaml.composer.warn_double_anchors = False  # from there on the later one is meant
    try:
        found: list[Node | None] = list(yaml.compose_all(text)) or [None]
    except (YAMLError, ValueError, RecursionError) as error:
        raise MergeError(f"is no YAML that can be read ({' '.join(str(error).split()):.200})") from None
    for node, _ in (each for root in found for each in _walked(root)):
        _refuse_twins(node)
    return found


def shared(roots: list[Node | None]) -> frozenset[int]:
    """Ids of the nodes that stand in one place and are meant in another too."""
    return frozenset(id(node) for root in roots for node, again in _walked(root) if again)


def children(node: Node | None) -> Iterator[tuple[str, Node]]:
    """By key, or by index."""
    if isinstance(node, MappingNode):
        yield from ((str(key.value), value) for key, value in node.value)
    elif isinstance(node, SequenceNode):
        yield from ((str(index), value) for index, value in enumerate(node.value))


def _walked(root: Node | None) -> Iterator[tuple[Node, bool]]:
    """Every node, and whether it was there before."""
    seen: set[int] = set()
    rest = [] if root is None else [root]
    while rest:
        node = rest.pop()
        yield node, id(node) in seen
        if id(node) not in seen:
            seen.add(id(node))
            rest += [child for _, child in children(node)]


def _refuse_twins(node: Node) -> None:
    names = [key.value for key, _ in node.value if isinstance(key, ScalarNode)] if isinstance(node, MappingNode) else []
    if twins := [name for name, count in Counter(names).items() if count > 1]:
        raise MergeError(f"is no YAML that can be read ({twins[0]} stands twice in one mapping)")
