"""Figures that somebody reported, from a small YAML or JSON file: one number each, without a spread.

    scenario: [model=qwen3_235b_a22b, gpu=h20, engine.tensor_parallel=8]    # overrides, as for tune
    source: [https://github.com/sgl-project/sglang/pull/6151]
    packages: {flashinfer: 0.2.5}                                           # import names with versions, where they are known
    figures:
      - {backend: fa3, phase: decode, metric: time_us, value: 98, input: 3500}

Without ``phase`` a figure is one of a whole server. Any other key says what the figure is of: only figures that agree in all of them
are compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from backends.cell import Phase
from tuner.errors import UsageError
from tuner.suggest import instead

KEYS, NEEDED = ("scenario", "source", "packages", "figures"), ("scenario", "source", "figures")
SUBJECT = {"model": "qwen3_8b", "gpu": "h20"}
FIGURE = ("backend", "metric", "value")
LEAST, MOST = 1e-9, 1e15  # beyond, it is no time and no rate
PHASES = {phase.value: phase for phase in Phase}
SHAPE = "give backend, metric and value, and phase where it is one of a phase"


@dataclass(frozen=True)
class Metric:
    """How its figures are shown: times ``factor``, in ``unit``; a rate is the better the higher it is."""

    unit: str
    factor: float = 1.0
    rate: bool = False


METRICS = {
    "time_us": Metric("us"),
    "time_ms": Metric("us", factor=1000.0),
    "relative_time": Metric("(relative)"),
    "tokens_per_s": Metric("tokens/s", rate=True),
}


@dataclass(frozen=True)
class Figure:
    """``labels``: what it is of, beside its phase."""

    backend: str
    phase: Phase | None
    metric: Metric
    value: float
    labels: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Figures:
    name: str
    scenario: tuple[str, ...]
    source: tuple[str, ...]
    packages: tuple[tuple[str, str], ...]
    figures: tuple[Figure, ...]


def read_figures(path: Path) -> Figures:
    """Raises `UsageError` for a file that is something else, `OSError` for one that cannot be read."""
    tree = _tree(path.name, path.read_text(errors="replace"))
    figures = tuple(_figure(f"{path.name}, figure {place}", item) for place, item in enumerate(_figures(path.name, tree), 1))
    _refuse_second_figures(path.name, figures)
    scenario, source = _scenario(path.name, tree), _words(path.name, tree, "source")
    return Figures(path.name, scenario, source, _packages(path.name, tree), figures)


def _tree(name: str, text: str) -> Mapping[str, Any]:
    try:
        tree = YAML(typ="safe").load(text)
    except (YAMLError, ValueError, RecursionError) as error:  # the last two: a number of 5000 digits, brackets 1000 deep
        raise UsageError(f"{name} is not YAML: {' '.join(str(error).split())}") from error
    if not isinstance(tree, Mapping):
        raise UsageError(f"{name} holds no figures; it needs the keys {', '.join(NEEDED)}")
    for key in tree:
        if key not in KEYS:
            raise UsageError(f"{name} has the key {key!r}; {instead(str(key), KEYS)}")
    for key in NEEDED:
        if not tree.get(key):
            raise UsageError(f"{name} says nothing under {key}; it needs the keys {', '.join(NEEDED)}")
    return tree


def _words(name: str, tree: Mapping[str, Any], key: str) -> tuple[str, ...]:
    if not isinstance(tree[key], list) or not all(isinstance(word, str) for word in tree[key]):
        raise UsageError(f"{name}: {key} is {tree[key]!r}; give a list of words")
    return tuple(tree[key])


def _scenario(name: str, tree: Mapping[str, Any]) -> tuple[str, ...]:
    """What is left out would be this machine's GPU, which nobody measured."""
    words = _words(name, tree, "scenario")
    for key in SUBJECT:
        if not any(word.partition("=")[0] == key for word in words):
            raise UsageError(f"{name}: scenario names no {key}; say of which one the figures are, such as {key}={SUBJECT[key]}")
    return words


def _packages(name: str, tree: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    packages = tree.get("packages") or {}
    if not isinstance(packages, Mapping):
        raise UsageError(f"{name}: packages is {packages!r}; give import names with versions, such as {{flashinfer: 0.6.14}}")
    for package, version in packages.items():
        if not isinstance(version, str):  # 0.10 without quotes is the number 0.1
            raise UsageError(f"{name}: packages gives {package} the version {version!r}; write it in quotes")
    return tuple((str(package), version) for package, version in packages.items())


def _figures(name: str, tree: Mapping[str, Any]) -> list[Any]:
    if not isinstance(tree["figures"], list):
        raise UsageError(f"{name}: figures is {tree['figures']!r}; give a list of them")
    return list(tree["figures"])


def _figure(where: str, item: Any) -> Figure:
    if not isinstance(item, Mapping) or any(item.get(key) is None for key in FIGURE):
        raise UsageError(f"{where} is {item!r}; {SHAPE}")
    metric, value = str(item["metric"]), item["value"]
    phase = None if item.get("phase") is None else str(item["phase"])
    if metric not in METRICS:
        raise UsageError(f"{where} has metric {metric!r}; {instead(metric, METRICS)}")
    if phase is not None and phase not in PHASES:
        raise UsageError(f"{where} has phase {phase!r}; {instead(phase, PHASES)}")
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not LEAST <= value <= MOST:
        raise UsageError(f"{where} has value {value!r}; give a number from {LEAST:g} to {MOST:g}")
    labels = tuple((str(key), str(said)) for key, said in item.items() if key not in (*FIGURE, "phase"))
    return Figure(str(item["backend"]), PHASES[phase] if phase else None, METRICS[metric], METRICS[metric].factor * value, labels)


def _refuse_second_figures(name: str, figures: Sequence[Figure]) -> None:
    """Which of two holds is not ours to say."""
    seen = set()
    for place, figure in enumerate(figures, 1):
        case = (figure.backend, figure.phase, figure.metric.unit, tuple(sorted(figure.labels)))
        if case in seen:
            raise UsageError(f"{name}, figure {place} is the second of {figure.backend} for one case; tell them apart by another key")
        seen.add(case)
