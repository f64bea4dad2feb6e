"""docs/whole-step.md: differences between backends, foretold and as SGLang's own steps show them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from statistics import median

from backends.cell import Phase
from reports import wording
from reports.page import Table, markdown_table
from store.scenario import WeightedCell
from tests.bench.step.cells import ARMS
from tests.bench.step.judge import HALF_WIDTH, HOLDS, OFF, POINTS, Difference, differences, ground, measured_ms, predicted
from tests.bench.step.rows import ROWS, Row, read_rows

INTRODUCTION = f"""\
# The whole step, predicted and measured

Made by `make bench-step`. SGLang's one-batch benchmark serves Qwen3-8B with random weights, one process a backend, all sizes one after
the other; backends take turns, forwards and backwards. Beside it attnpin times one attention call of each backend, the step's metadata,
and what of a step is not attention, as a tune does with `measure.rest=true`. Its prediction of a step is the layers times the call, plus
metadata, plus the rest; so backends differ by what their calls and their metadata differ.

What has to hold: predicted and measured differences lie within {POINTS:g} points of a step's time. The measured one is the median over
turns; where the half-width of its 95 % interval is above {HALF_WIDTH:g} point it is not sure, and after ten turns no longer judged. The
prediction is a range, since small kernels may be fused or not; how far apart the two are is counted from its nearer end.
"""
NOTHING = "Not measured yet.\n"
DIFFERENCE_HEADER = ("decode step", "backends", "measured, points", "half-width", "turns", "predicted, points", "apart", "")
STEP_HEADER = ("step", "backend", "engine, ms", "turns", "attention, ms", "metadata, ms", "rest, ms", "engine less attention and metadata")


@cache
def committed() -> str:
    """The page of the rows that are kept."""
    return render(read_rows(ROWS))


def render(rows: Sequence[Row]) -> str:
    good = [row for row in rows if row.failed is None]
    if not good:
        return "\n".join((INTRODUCTION, NOTHING, *_failures(rows)))
    found = tuple(differences(good))
    parts = (_measured_on(good), _verdict(found), _differences(found), _steps(good, Phase.DECODE), _steps(good, Phase.PREFILL))
    return "\n".join((INTRODUCTION, *filter(None, parts), *_failures(rows)))


def _measured_on(rows: Sequence[Row]) -> str:
    first = rows[0]
    versions = ", ".join(f"{name} {version}" for name, version in first.versions)
    sittings = len({row.sitting for row in rows})
    return f"{first.board}, {versions}; {len(rows)} processes in {sittings} sittings.\n"


def _verdict(found: Sequence[Difference]) -> str:
    if not found:
        return "No backend has both a prediction and a turn of the engine beside the default's yet.\n"
    counts = Counter(each.verdict for each in found)
    said = ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common())
    return f"**{wording.count(len(found), 'difference')}: {said}.** Of {counts[HOLDS] + counts[OFF]} judged {counts[HOLDS]} hold.\n"


def _differences(found: Iterable[Difference]) -> str:
    rows = tuple(
        (
            *(
                each.cell,
                f"{each.other} - {each.one}",
                f"{each.measured:+.2f}",
                "" if each.half_width is None else f"{each.half_width:.2f}",
            ),
            *(str(each.runs), _range(each.low, each.high), f"{each.apart:.2f}", each.verdict),
        )
        for each in found
    )
    return f"## Differences between backends\n\n{markdown_table(Table(DIFFERENCE_HEADER, rows))}\n" if rows else ""


def _steps(rows: Sequence[Row], phase: Phase) -> str:
    """Reported: what is judged are differences."""
    cells = (weighted for weighted in ground().plan.cells if weighted.cell.phase is phase)
    table = Table(STEP_HEADER, tuple(line for weighted in cells for arm in ARMS if (line := _step(rows, weighted, arm))))
    eager = "\nLaunched eagerly: a prefill of few tokens takes as long as the host needs to launch it.\n" if phase is Phase.PREFILL else ""
    return f"## {phase.value.capitalize()} steps\n{eager}\n{markdown_table(table)}\n" if table.rows else ""


def _step(rows: Sequence[Row], weighted: WeightedCell, arm: str) -> tuple[str, ...] | None:
    ours, theirs = predicted(rows, weighted, arm), tuple(measured_ms(rows, weighted, arm).values())
    if ours is None or not theirs:
        return None
    step = median(theirs)
    rest = _range(ours.rest_ms.low, ours.rest_ms.high, "{:.2f}")
    left = step - ours.own_ms
    inside = ours.rest_ms.low <= left and (ours.rest_ms.high is None or left <= ours.rest_ms.high)
    metadata = "" if ours.metadata_ms is None else f"{ours.metadata_ms:.3f}"
    engine = f"{step:.3f} ({min(theirs):.3f} to {max(theirs):.3f})" if len(theirs) > 1 else f"{step:.3f}"
    where = "as predicted" if inside else "more" if ours.rest_ms.high is not None and left > ours.rest_ms.high else "less"
    return weighted.cell.name, arm, engine, str(len(theirs)), f"{ours.attention_ms:.3f}", metadata, rest, f"{left:.2f}: {where}"


def _range(low: float, high: float | None, form: str = "{:+.2f}") -> str:
    if high is None:
        return f"{form.format(low)} or more"
    return form.format(low) if form.format(low) == form.format(high) else f"{form.format(low)} to {form.format(high)}"


def _failures(rows: Iterable[Row]) -> tuple[str, ...]:
    failed = [row for row in rows if row.failed is not None]
    if not failed:
        return ()
    said = "\n".join(f"- {row.kind} {row.index} {row.arm or ''}: {row.failed}".replace("  ", " ") for row in failed)
    return (f"## Processes that failed\n\n{said}\n",)
