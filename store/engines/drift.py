"""Where an engine's documentation, its docstrings and its code differ."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Said:
    """One source's word. ``where``: the page and its heading, or file and function."""

    says: str
    where: str


@dataclass(frozen=True)
class Drift:
    """``cell`` is what is spoken of. ``docs`` is the documentation, ``docstring`` also a help text, a comment or a message; the one that
    is None says nothing. ``code`` is what happens. ``rules``: the rule sets it was read in, empty = all of them."""

    name: str
    cell: str
    code: Said
    docs: Said | None = None
    docstring: Said | None = None
    rules: tuple[str, ...] = ()
