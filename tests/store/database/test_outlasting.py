"""Whoever begins a transaction begins it again when the server was away."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

STORE = Path(__file__).parents[3] / "store"
BEGIN, AGAIN = {"reading", "writing"}, "outlasts_a_restart"


def transacting(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    for function in (node for node in tree.body if isinstance(node, ast.FunctionDef)):
        called = {node.func.id for node in ast.walk(function) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
        if called & BEGIN:
            yield function


def test_every_function_that_begins_a_transaction_outlasts_a_restart() -> None:
    found = {
        f"{path.stem}.{function.name}": [ast.unparse(each) for each in function.decorator_list]
        for path in sorted(STORE.rglob("*.py"))
        for function in transacting(ast.parse(path.read_text()))
    }
    assert "repository.load_run" in found
    assert {name: decorators for name, decorators in found.items() if AGAIN not in decorators} == {}
