"""Which scenarios are asked for: the combinations of Hydra's sweep syntax, each line of a file, or both."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from store.database.interrupts import held_back
from store.database.passwords import without_password
from tuner.composing.explain import usage_errors
from tuner.errors import UsageError

FILE, NONE = "scenarios", "null"
AS_LIST = "write a YAML list with the overrides of one scenario a line, such as - model=qwen3_8b traffic=chat"

COLON = "mapping values are not allowed here"  # PyYAML of a second ": " in a line without quotes, such as [{kind: nans, backend: fa3}]
QUOTED = ", put the line in double quotes"

Wish = tuple[str, ...]


def wishes(overrides: Sequence[str]) -> tuple[Wish, ...]:
    """The overrides of each scenario, none twice. ``scenarios=FILE`` among them: those that its lines add, every one in turn.

    Raises `UsageError` for a file or an override that cannot be read.
    """
    given = [value for override in overrides if _names_file(override) and (value := override.partition("=")[2]) != NONE]
    common = [override for override in overrides if not _names_file(override)]
    lines = _lines(Path(given[-1].strip("'\""))) if given else [()]
    found = [wish for line in lines for wish in _combinations([*common, *line])]
    return tuple(dict.fromkeys(found))


def shown_as(wish: Wish) -> Wish:
    """As it is shown, and kept beside pins that are committed."""
    return tuple(map(without_password, wish))


def _names_file(override: str) -> bool:
    return override.startswith(f"{FILE}=")


def _lines(file: Path) -> list[Wish]:
    import yaml

    if not file.name:
        raise UsageError(f"{FILE}= names no file; {AS_LIST}")
    try:
        tree = yaml.safe_load(file.read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        raise UsageError(f"scenarios={file} is not YAML ({_fault(error)}); {AS_LIST}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"scenarios={file} is not text; {AS_LIST}") from error
    if not isinstance(tree, list) or not tree:
        raise UsageError(f"scenarios={file} holds no list of scenarios; {AS_LIST}")
    return [_line(entry, file, number) for number, entry in enumerate(tree, 1)]


def _fault(error: Any) -> str:
    """Of PyYAML, with the line where it says one."""
    mark = getattr(error, "problem_mark", None)
    if mark is None:
        return str(error).splitlines()[0]
    return f"line {mark.line + 1}: {error.problem}{QUOTED if error.problem == COLON else ''}"


def _line(entry: Any, file: Path, number: int) -> Wish:
    try:
        words = shlex.split(entry) if isinstance(entry, str) else [str(word) for word in entry]
    except (TypeError, ValueError) as error:
        raise UsageError(f"scenarios={file}: entry {number} ({entry!r}) is no line of overrides ({error}); {AS_LIST}") from error
    if isinstance(entry, dict):
        raise UsageError(f"scenarios={file}: entry {number} is a mapping, since it has a ': '{QUOTED}; {AS_LIST}")
    if any(map(_names_file, words)):
        raise UsageError(f"scenarios={file}: entry {number} names a file of scenarios again; write its lines into this one")
    return tuple(words)


def _combinations(overrides: Sequence[str]) -> Iterator[Wish]:
    """As Hydra's own sweeper makes them, choices by name (``model=glob(qwen*)``) included."""
    from hydra import initialize_config_module
    from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
    from hydra.core.global_hydra import GlobalHydra
    from hydra.core.override_parser.overrides_parser import OverridesParser

    from tuner.schema.root import register

    register()
    with held_back(), usage_errors(), initialize_config_module("conf", version_base="1.3"):
        parser = OverridesParser.create(config_loader=GlobalHydra.instance().config_loader())
        batches = BasicSweeper.split_arguments(parser.parse_overrides(list(overrides)), max_batch_size=None)
    for batch in batches:
        yield from (tuple(combination) for combination in batch)
