"""What is known of distributions, releases and variables: the folder `known` of conf, and of --config-dir beside it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, TypeVar

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from backends.wire import WireError, from_plain
from store.serving.diagnosis import Severity
from tuner.composing.names import KNOWLEDGE
from tuner.errors import UsageError

Entry = TypeVar("Entry")


@dataclass(frozen=True)
class KernelDistribution:
    """``torch_abi``: its compiled files link to libtorch."""

    name: str
    imports: tuple[str, ...] = ()
    torch_abi: bool = False


@dataclass(frozen=True)
class TakenBack:
    """Releases within ``versions`` (PEP 440) that were withdrawn or skipped; ``sm``: on these alone, () = everywhere."""

    distribution: str
    versions: str
    what: str
    instead: str
    source: str
    sm: tuple[int, ...] = ()


@dataclass(frozen=True)
class TorchBuild:
    """Releases within ``versions`` were built for a torch within ``torch`` (both PEP 440)."""

    distribution: str
    versions: str
    torch: str
    source: str


@dataclass(frozen=True)
class Unbuilt:
    """``distribution`` holds prebuilt kernels, ``lacks`` is what it has none of."""

    distribution: str
    versions: str
    lacks: str
    source: str


@dataclass(frozen=True)
class Effect:
    """Of an environment variable; ``effect`` is a clause whose subject is the variable, or the value that it begins with."""

    name: str
    severity: Severity
    effect: str
    source: str = "sglang/srt/environ.py (0.5.22)"


@dataclass(frozen=True)
class Known:
    distributions: tuple[KernelDistribution, ...]
    releases: tuple[TakenBack, ...]
    torch_builds: tuple[TorchBuild, ...]
    prebuilt: tuple[Unbuilt, ...]
    variables: tuple[Effect, ...]


def load_known(config_dir: str | None = None) -> Known:
    """Raises `UsageError` for an entry that cannot be used. Entries of a folder go before ours of the same name."""
    return Known(
        distributions=read_known("distributions", KernelDistribution, config_dir),
        releases=read_known("releases", TakenBack, config_dir),
        torch_builds=read_known("torch_builds", TorchBuild, config_dir),
        prebuilt=read_known("prebuilt", Unbuilt, config_dir),
        variables=read_known("variables", Effect, config_dir),
    )


def read_known(name: str, kind: type[Entry], config_dir: str | None = None) -> tuple[Entry, ...]:
    """What the file ``name`` of the folder holds: of entries with a name the first of each name, of the others all."""
    folders: list[Traversable] = [*([Path(config_dir) / KNOWLEDGE] if config_dir else []), files("conf") / KNOWLEDGE]
    entries = [entry for folder in folders for entry in _entries(folder / f"{name}.yaml", kind)]
    return tuple({getattr(entry, "name", entry): entry for entry in entries[::-1]}.values())[::-1]


def _entries(file: Traversable, kind: type[Entry]) -> Iterator[Entry]:
    if not file.is_file():
        return
    try:
        for row in _rows(_read(file.read_text(encoding="utf-8"))):
            entry = from_plain(kind, row)
            for versions in ("versions", "torch", "engine_versions"):
                SpecifierSet(getattr(entry, versions, ""))
            yield entry
    except (YAMLError, WireError, InvalidSpecifier, TypeError) as error:
        raise UsageError(f"{KNOWLEDGE}/{file.name} cannot be used: {' '.join(str(error).split())}; correct that entry") from None


@cache
def _read(text: str) -> Any:
    """To be read only; a plan looks at all five files, and a sweep makes many plans."""
    return YAML(typ="safe").load(text)


def _rows(content: Any) -> list[Any]:
    """A list of entries, or a mapping of names to the rest of each entry."""
    if isinstance(content, dict):
        return [{"name": name, **entry} for name, entry in content.items()]
    return list(content or ())
