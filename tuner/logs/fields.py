"""Values out of what Python printed for a record: `ServerArgs(a=1, b='x')`, `{'a': 1}` or `a=1, b='x'`, whole or cut. Pure."""

from __future__ import annotations

import ast
import re
from typing import Any

NAMED = re.compile(r"<(?:\w+\.)+(\w+): [^<>]*>")  # an enum member
OPAQUE = re.compile(r"<[^<>]*>")  # any other object without a constructor
VALUE = r"'(?:[^'\\]|\\.)*'|\[[\d, ]*\]|-?\d+(?:\.\d+)?(?![\w.])|[A-Za-z_][\w.]*(?![\w.(\[{])"
SCALAR = re.compile(rf"(?<![\w.'\"-])['\"]?([A-Za-z_]\w*)['\"]?\s*(?:=|:\s)\s*({VALUE})")


def fields(text: str) -> dict[str, Any]:
    """The record's fields, nested ones as dictionaries, objects that are no values as their names. Of a text that is cut, or that is no
    Python, what stands in it as "name=value" or "'name': value", the first of a name."""
    sound = OPAQUE.sub("None", NAMED.sub(r"'\1'", text.strip()))
    for form in (sound, f"_({sound})"):
        try:
            found = _value(ast.parse(form, mode="eval").body)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        if isinstance(found, dict):
            return found
    scalars: dict[str, Any] = {}
    for name, value in SCALAR.findall(sound):
        scalars.setdefault(name, _literal(value))
    return scalars


def _value(node: ast.expr) -> Any:
    if isinstance(node, ast.Call):
        return {keyword.arg: _value(keyword.value) for keyword in node.keywords if keyword.arg is not None}
    if isinstance(node, ast.Dict):
        return {_value(key): _value(value) for key, value in zip(node.keys, node.values) if isinstance(key, ast.Constant)}
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return [_value(item) for item in node.elts]
    return _literal(ast.unparse(node))


def _literal(value: str) -> Any:
    try:
        return ast.literal_eval(value)
    except (SyntaxError, ValueError):
        return value
