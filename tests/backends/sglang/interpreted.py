"""Triton's interpreter as the cases of drive.py use it: the same answers in two thirds of its time."""

from __future__ import annotations

from functools import cache
from typing import Any

from triton.runtime import interpreter


def hasten() -> None:
    """Integers are not watched for overflow, which costs as much as the arithmetic (a GPU watches them in debug mode alone), and what
    the interpreter puts its own functions in place of is looked up once, not at every call of a device function."""
    interpreter.interpreter_builder.options = interpreter.InterpreterOptions(sanitize_overflow=False)
    interpreter._patch_builtin = _patch_builtin


def _patch_builtin(package: Any, builder: Any, scope: Any) -> None:
    for name in _builtins(package):
        member = getattr(package, name)
        if interpreter.tl.core.is_builtin(member):  # not yet replaced
            interpreter._patch_attr(package, name, member, builder, scope)


@cache
def _builtins(package: Any) -> tuple[str, ...]:
    """Asked first when nothing of the package is replaced."""
    return tuple(name for name in dir(package) if interpreter.tl.core.is_builtin(getattr(package, name, None)))
