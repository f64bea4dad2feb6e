"""A resolved configuration tree, and the value at a dotted key of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Tree = Mapping[str, Any]


def at(tree: Tree, key: str) -> Any:
    value: Any = tree
    for part in key.split("."):
        value = value[part]
    return value
