"""The real libraries' parameters, which imitations hold every call to."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from inspect import Parameter, Signature
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

FILE = Path(__file__).with_suffix(".yaml")


@cache
def described() -> dict[str, Any]:
    known: dict[str, Any] = YAML(typ="safe").load(FILE)
    return known


def signature(module: str, function: str) -> Signature:
    """Of ``function`` in ``module``, a method without its self."""
    taken, _, by_name = described()[module]["functions"][function].partition(" * ")
    both = ((taken, Parameter.POSITIONAL_OR_KEYWORD), (by_name, Parameter.KEYWORD_ONLY))
    return Signature([_parameter(word, kind) for words, kind in both for word in words.split()])


def _parameter(word: str, kind: Any) -> Parameter:
    return Parameter(word.rstrip("="), kind, default=None if word.endswith("=") else Parameter.empty)


def held_to(module: str, function: str, imitation: Callable[..., Any]) -> Callable[..., Any]:
    """``imitation`` is given the arguments by name, once the real function would have taken them."""
    real = signature(module, function)

    def call(*arguments: Any, **named: Any) -> Any:
        return imitation(real.bind(*arguments, **named).arguments)

    return call
