"""The attnpin commands that a page or a workflow shows, and whether the command line takes them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import Any

import typer.main
from hydra.core.override_parser.overrides_parser import OverridesParser

from tuner import cli
from tuner.exporting.launchers import load_launchers

EXPRESSION = re.compile(r"\$\{\{.*?\}\}")  # GitHub's, which are no words of a shell
INLINE = re.compile(r"`(attnpin [^`]+)`")
FENCED = re.compile(r"^(?:```\w*\n(.*?)^```|((?:    [^\n]*\n)+))", re.DOTALL | re.MULTILINE)
ENDS = {"|", "||", "&", "&&", ";", ">", ">>", "<", "(", ")"}


def commands(script: str) -> Iterator[tuple[str, ...]]:
    """The words of every attnpin command in a shell script, up to what follows it."""
    for line in EXPRESSION.sub("X", script).splitlines():
        if not re.search(r"\battnpin ", line) or line.lstrip().startswith("#"):
            continue
        words = shlex.shlex(line, posix=True, punctuation_chars=True)
        words.whitespace_split = True
        listed = list(words)
        for start in (index for index, word in enumerate(listed[:-1]) if word == "attnpin" and listed[index + 1] in cli.COMMANDS):
            end = next((index for index in range(start, len(listed)) if listed[index] in ENDS), len(listed))
            yield tuple(listed[start + 1 : end])


def of_page(markdown: str) -> Iterator[tuple[str, ...]]:
    """Those in its code, inline or in blocks."""
    for fenced, indented in FENCED.findall(markdown):
        yield from commands(fenced or indented)
    for inline in INLINE.findall(FENCED.sub("", markdown)):
        yield from commands(inline)


def of_workflow(node: Any) -> Iterator[tuple[str, ...]]:
    """Those in its steps."""
    for key, value in node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ():
        if key == "run" and isinstance(value, str):
            yield from commands(value)
        else:
            yield from of_workflow(value)


def parse(words: tuple[str, ...]) -> dict[str, Any]:
    """What the command would be called with. Raises as the command line would: Typer's usage errors, Hydra's for an override."""
    group: Any = typer.main.get_command(cli.app)
    called: dict[str, Any] = group.commands[words[0]].make_context(words[0], list(words[1:])).params
    OverridesParser.create().parse_overrides(list(called.get("overrides") or ()))
    if "to" in called:
        assert called["to"] in load_launchers(), called["to"]
    return called
