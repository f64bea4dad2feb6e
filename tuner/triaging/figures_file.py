"""Figures of then and now that somebody states, from a small YAML file: a profiler's, a benchmark's, a dashboard's.

    noise_pct: 0.5                     # what two measurements of one thing differ by; without it 1 % is taken
    boards: [H20 of node 3, H20 of node 3]      # then and now, where they are known
    moved: [SGLang from commit A to commit B]   # what the packages do not show
    figures:
      - {component: attention, backend: flashinfer, phase: decode, batch: 64, metric: time_us, before: 39.4, after: 283.5}
      - {component: moe, metric: time_us, change: slower}
      - {metric: tokens_per_s, before: 126.9, after: 104.4}

``component`` is attention where a backend is named and else the whole server (end-to-end). Instead of ``before`` and ``after`` stands
``change_pct`` or ``change`` (slower, faster, same), ``added`` (a time more, of an unknown one), or ``value`` where there is one time alone;
``spread_pct`` is the noise of that figure. ``arm`` is a setting of a backend ("auto"), ``graph`` says in which a call ran (none, full).
``kernels_before`` and ``kernels_after`` are lists of names, ``grid`` is the number of blocks of a launch, ``attention_share_pct`` of the
GPU's time. Metrics that end in "_per_s" or "tflops" are rates, all others times. Any other key says what a figure is of.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from tuner.errors import UsageError
from tuner.suggest import instead
from tuner.triaging.figures import ATTENTION, RATES, WHOLE, Figure, Figures

NOISE_PCT = 1.0
KEYS = ("noise_pct", "boards", "moved", "figures")
OWN = ("component", "backend", "arm", "phase", "graph", "metric", "before", "after", "change_pct", "change", "value", "spread_pct")
SIDES = ("kernels_before", "kernels_after", "grid", "added", "attention_share_pct")
WORDS = {"slower": math.inf, "faster": -math.inf, "same": 0.0}


def read_figures(path: Path) -> Figures:
    """Raises `UsageError` for a file that is not there or is something else."""
    try:
        tree = YAML(typ="safe").load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"--figures {path} cannot be read ({error.strerror}); check the path") from None
    except (YAMLError, ValueError, RecursionError) as error:
        raise UsageError(f"--figures {path.name} is not YAML: {' '.join(str(error).split())}") from None
    return figures_of(tree, path.name)


def figures_of(tree: Any, name: str) -> Figures:
    """Raises as `read_figures`."""
    if not isinstance(tree, Mapping) or not isinstance(tree.get("figures"), list) or not tree["figures"]:
        raise UsageError(f"--figures {name} holds no figures; it needs a list of them under the key figures")
    for key in tree:
        if key not in KEYS:
            raise UsageError(f"--figures {name} has the key {key!r}; {instead(str(key), KEYS)}")
    boards, moved = tree.get("boards"), tree.get("moved") or []
    if boards is not None and not (isinstance(boards, list) and len(boards) == 2):
        raise UsageError(f"--figures {name}: boards is {boards!r}; give two, that of then and that of now")
    noise = _number(f"--figures {name}", "noise_pct", tree.get("noise_pct", NOISE_PCT))
    found = tuple(_figure(f"--figures {name}, figure {place}", item, noise) for place, item in enumerate(tree["figures"], 1))
    return Figures(found, (str(boards[0]), str(boards[1])) if boards else None, tuple(map(str, moved)))


def _figure(where: str, item: Any, noise_pct: float) -> Figure:
    if not isinstance(item, Mapping):
        raise UsageError(f"{where} is {item!r}; give metric, and before and after, change_pct, change or value")
    numbers = {key: _number(where, key, item[key]) for key in ("before", "after", "change_pct", "value", "spread_pct") if key in item}
    backend, metric = item.get("backend"), str(item.get("metric", "time"))
    return Figure(
        component=str(item.get("component", ATTENTION if backend else WHOLE)),
        backend=None if backend is None else str(backend),
        arm=None if item.get("arm") is None else str(item["arm"]),
        phase=None if item.get("phase") is None else str(item["phase"]),
        graph=None if item.get("graph") is None else str(item["graph"]),
        metric=metric,
        before=numbers.get("before"),
        after=numbers.get("after"),
        change=_change(where, item, numbers, metric),
        value=numbers.get("value"),
        noise=math.log1p(numbers.get("spread_pct", noise_pct) / 100),
        labels=tuple((str(key), str(said)) for key, said in item.items() if key not in (*OWN, *SIDES)),
        details=tuple((key, item[key]) for key in SIDES if key in item),
    )


def _change(where: str, item: Mapping[str, Any], numbers: Mapping[str, float], metric: str) -> float | None:
    sign = -1 if metric.endswith(RATES) else 1
    if "before" in numbers and "after" in numbers:
        if min(numbers["before"], numbers["after"]) <= 0:
            raise UsageError(f"{where} has a time or rate of 0 or less; leave it out")
        return sign * math.log(numbers["after"] / numbers["before"])
    if "change_pct" in numbers:
        return sign * math.log1p(max(numbers["change_pct"], -99.0) / 100)
    if (word := item.get("change")) is not None:
        if word not in WORDS:
            raise UsageError(f"{where} has change {word!r}; {instead(str(word), WORDS)}")
        return WORDS[word]
    added = item.get("added")  # without a time that it adds to
    return math.inf if isinstance(added, (int, float)) and added > 0 else None


def _number(where: str, key: str, value: Any) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not math.isfinite(value):
        raise UsageError(f"{where} has {key} {value!r}; give a number")
    return float(value)
