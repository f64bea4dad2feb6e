"""What a page may cite: the evidence under examples/, the data under docs/data/ and settings under conf/, and arithmetic of those.

qwen3_8b-h200/decode-64/fa3       microseconds of one call, as the example's report shows them
qwen3_8b-h200/decode-64/layers    also: requests, context (tokens of its longest request)
qwen3_8b-h200/step/decode-64/low  milliseconds that a step takes by the step model; also high
qwen3_8b-h200/served/triton/64/itl_ms/pin
                                  a serving run against triton at concurrency 64: the median over the starts; also against, and of
                                  pin / against ratio, low, high
qwen3_8b-h200/served/triton/64/change/predicted
                                  milliseconds that the pin saves on the median ITL; also measured
upgrade/NAME/decode-64/auto/ratio the change in examples/upgrade/NAME of what asked for auto; also baseline, candidate (us), low, high
                                  (of the ratio), pairs; and upgrade/NAME/decode-64/requests, context. Where NAME is a bisection, of one
                                  release: upgrade/NAME/0.6.14/decode-64/auto/ratio
upgrade/NAME/decode-64/served/ratio the same of what a pin serves, where NAME is a check: baseline is the pin's time, candidate today's
engine-benchmark/pools/gib        a key of docs/data/engine-benchmark.yaml; of a list an index, min, max or mean
conf/decide/default/min_gain      a key of conf/decide/default.yaml
"""

from __future__ import annotations

import ast
import math
import operator
import re
import statistics
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from backends.cell import Cell
from reports.serving_words import measured_change_ms, middle, serves
from store.comparisons.side_by_side import SideBySide
from store.evidence.run_evidence import read_evidence
from store.runs.run import Run
from store.verdicts.version_verdict import Row
from tests.example_bisections import SUFFIX
from tests.example_checks import TODAY, check_of
from tuner.comparing.recorded import judged, recorded
from tuner.decide import decide

ROOT = Path(__file__).parents[2]
PATH = re.compile(r"[a-z][\w.-]*(?:/[\w.-]+)+")
OPERATORS: Mapping[type, Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
OF_LISTS: Mapping[str, Callable[[list[float]], float]] = {"min": min, "max": max, "mean": statistics.fmean}
OF_ROWS: Mapping[str, Callable[[Row], float]] = {
    "baseline": lambda row: row.old,
    "candidate": lambda row: row.new,
    "ratio": lambda row: math.exp(row.verdict.numbers.estimate),
    "low": lambda row: math.exp(row.verdict.numbers.low),
    "high": lambda row: math.exp(row.verdict.numbers.high),
    "pairs": lambda row: row.verdict.numbers.rounds,
}
OF_CELLS: Mapping[str, Callable[[Cell], int]] = {"requests": lambda cell: cell.batch, "context": lambda cell: max(cell.context_lens)}


def value(citation: str) -> float:
    """``citation`` with every path replaced by its number, worked out. Raises LookupError for what is not there, SyntaxError."""
    return _worked_out(ast.parse(PATH.sub(lambda path: repr(cited(path[0])), citation), mode="eval").body)


def _worked_out(node: ast.AST) -> float:
    if isinstance(node, ast.BinOp):
        return OPERATORS[type(node.op)](_worked_out(node.left), _worked_out(node.right))
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return node.value
    raise SyntaxError("a citation is numbers, paths, + - * / and brackets")


def cited(path: str) -> float:
    """The number at ``path``. Raises LookupError."""
    first, *rest = path.split("/")
    found: Any
    if first == "upgrade":
        found = _of_upgrade(*rest)
    elif (ROOT / "examples" / first).is_dir():
        found = _of_example(first, *rest)
    elif first == "conf":
        found = _of_yaml(ROOT.joinpath(first, *rest[:2]).with_suffix(".yaml"), rest[2:])
    else:
        found = _of_yaml(ROOT / "docs" / "data" / f"{first}.yaml", rest)
    if isinstance(found, bool) or not isinstance(found, int | float):
        raise LookupError(f"{path} is no number")
    return found


def _of_example(name: str, cell: str, what: str, *rest: str) -> float | None:
    run, times = example(name)
    if cell == "served":
        return _of_serving_run(run, what, *rest)
    if cell == "step":
        (end,) = rest
        (step,) = (each for each in decide(run).steps if each.cell == what)
        return step.attention_ms + getattr(step, f"rest_ms_{end}")
    weighted = {weighted.cell.name: weighted for weighted in run.cells}[cell]
    if what in OF_CELLS:
        return OF_CELLS[what](weighted.cell)
    return weighted.layers if what == "layers" else times[cell, what]


@cache
def example(name: str) -> tuple[Run, Mapping[tuple[str, str], float]]:
    """The run, and microseconds of one call by cell and backend (each has one arm there)."""
    run = read_evidence(ROOT / "examples" / name / "pin.evidence.jsonl.zst")
    backends = {arm.name: arm.backend for arm in run.arms}
    return run, {(result.cell, backends[result.arm]): result.median_us for result in decide(run).cells}


def _of_serving_run(run: Run, against: str, concurrency: str, metric: str, what: str) -> float | None:
    """None for what it does not say."""
    found, at = {serves(each, False): each for each in run.serving_runs}[against], int(concurrency)
    if metric == "change":
        foretold = {each.concurrency: each.change_ms for each in found.predicted}[at]
        change = measured_change_ms(found, at) if what == "measured" else foretold
        return None if change is None else -change
    if what in ("pin", "against"):
        return middle(found, what == "pin", metric, at)
    ratio = {(each.concurrency, each.metric): each.ratio for each in found.contrasts}[at, metric]
    return {"ratio": ratio.estimate, "low": ratio.low, "high": ratio.high}[what]


def _of_upgrade(name: str, *rest: str) -> float:
    folder = ROOT / "examples" / "upgrade" / name
    if (folder / TODAY).exists():
        cell, _, which = rest
        (row,) = (row for row in _served(folder) if row.cell == cell)
        return OF_ROWS[which](row)
    release = folder / f"{rest[0]}{SUFFIX}"
    return _of_comparison(release, *rest[1:]) if release.exists() else _of_comparison(folder, *rest)


@cache
def _served(folder: Path) -> tuple[Row, ...]:
    return check_of(folder).served


def _of_comparison(place: Path, cell: str, what: str, which: str = "") -> float:
    measured, rows = _comparison(place)
    if what in OF_CELLS:
        return OF_CELLS[what]({weighted.cell.name: weighted.cell for weighted in measured.baseline.cells}[cell])
    return OF_ROWS[which](rows[cell, what])


@cache
def _comparison(place: Path) -> tuple[SideBySide, Mapping[tuple[str, str], Row]]:
    """The comparison, and its rows by cell and inner path in the baseline ("auto", "fa2")."""
    measured = recorded(place)
    verdict = judged(measured)
    paths = {(each.arm, each.cell): each.before.partition(",")[0] for each in verdict.dispatches}
    return measured, {(row.cell, paths[row.arm, row.cell]): row for row in verdict.rows if row.cell}


def _of_yaml(file: Path, keys: list[str]) -> Any:
    found: Any = YAML(typ="safe").load(file)
    for key in keys:
        found = _of_list(found, key) if isinstance(found, list) else found[key]
    return found


def _of_list(items: list[float], key: str) -> float:
    return OF_LISTS[key](items) if key in OF_LISTS else items[int(key)]
