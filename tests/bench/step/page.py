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
from tests.bench.step.agenda import STREAMED
from tests.bench.step.cells import ARMS, RUNS, STEPS
from tests.bench.step.judge import HALF_WIDTH, HOLDS, MOST_RUNS, OFF, POINTS, Difference, alone_ms, differences, ground, predicted, turns_ms
from tests.bench.step.rows import ROWS, Row, read_rows

INTRODUCTION = f"""\
# The whole step, predicted and measured

Made by `make bench-step`. SGLang serves Qwen3-8B with random weights, and the steps of its one-batch benchmark are timed. All backends
take turns in one process, on one model and one KV pool: each has the attention backend and the decode graphs that the engine makes for
it, and between two steps nothing else changes. In a run each backend takes {STEPS} steps, then all once more in reverse order; a size has
{RUNS} runs a process. Beside it attnpin times one attention call of each backend, the step's metadata, and what of a step is not attention,
as a tune does with `measure.rest=true`; decode calls back to back, as a tune has them, and with a layer's weights streaming between two of
them, as `measure.sensitivity=[sandwich]` has them. Its prediction of a step is the layers times the call, with weights between where it was
timed so, plus metadata, plus the rest; so backends differ by what their calls and their metadata differ.

What has to hold: predicted and measured differences lie within {POINTS:g} points of the engine's step with the default. The measured one is
the median over runs; where the half-width of its 95 % interval is above {HALF_WIDTH:g} point it is not sure, and after {MOST_RUNS} runs no
longer judged. Half-widths come from order statistics; a normal approximation, which stood here until the first rows had been seen, is wider
on most. A prefill is of equal prompts that are one chunk of a server. Alone: where the backend had a process to itself.
"""
NOTHING = "Not measured yet.\n"
PICTURE = "![How far measured differences lie from predicted ones](whole-step.svg)\n"
DIFFERENCE_HEADER = (
    "step",
    "backends",
    "measured, points",
    "half-width",
    "runs",
    "of each process",
    "predicted, points",
    "back to back",
    "apart",
    "",
)
STEP_HEADER = ("step", "backend", "engine, ms", "alone, ms", "attention, ms", "metadata, ms", "rest, ms", "engine less both")


@cache
def committed() -> str:
    """The page of the rows that are kept."""
    return render(read_rows(ROWS))


def render(rows: Sequence[Row]) -> str:
    good = [row for row in rows if row.failed is None]
    if not good:
        return "\n".join((INTRODUCTION, NOTHING, *_failures(rows)))
    phases = (Phase.DECODE, Phase.PREFILL)
    found = {phase: tuple(differences(good, phase)) for phase in phases}
    picture = PICTURE if any(found.values()) else ""
    tables = (part for phase in phases for part in (_differences(phase, found[phase]), _steps(good, phase)))
    parts = (_measured_on(good), _calls_meant(good), _verdict(found[Phase.DECODE], found[Phase.PREFILL]), picture, _reading(good), *tables)
    return "\n".join((INTRODUCTION, *filter(None, parts), *_failures(rows)))


def _measured_on(rows: Sequence[Row]) -> str:
    first = rows[0]
    versions = ", ".join(f"{name} {version}" for name, version in first.versions)
    sittings = wording.count(len({row.sitting for row in rows}), "sitting")
    return f"{first.board}, {versions}; {wording.count(len(rows), 'process', 'processes')} in {sittings}.\n"


def _calls_meant(rows: Sequence[Row]) -> str:
    return (
        ""
        if any(row.kind == STREAMED for row in rows)
        else "No call was timed with weights streaming yet: predictions are of calls back to back.\n"
    )


def _reading(rows: Sequence[Row]) -> str:
    """What a step of one token says of the bandwidth that weights are read with (`tuner.traffic.pace.READING`)."""
    times = next((found for row in rows for found in row.rests if found.shape.rows == 1 and found.why_none is None), None)
    sheet = ground().plan.scenario.gpu.bandwidth_bytes_per_s
    if times is None or sheet is None:
        return ""
    shape, taken = times.shape, sorted(map(median, (times.fused_ms, times.apart_ms)))
    low, high = (shape.weight_bytes() / (ms / 1e3) / sheet for ms in reversed(taken))
    return (
        f"What of a step of one token is not attention takes {taken[0]:.2f} to {taken[1]:.2f} ms, small kernels included, and reads"
        f" {shape.weight_bytes() / 1e9:.2f} GB of weights: with {low:.2f} to {high:.2f} of the sheet's {sheet / 1e12:.2f} TB/s.\n"
    )


def _verdict(decode: Sequence[Difference], prefill: Sequence[Difference]) -> str:
    if not decode and not prefill:
        return "No backend has both a prediction and a run of the engine beside the default's yet.\n"
    return "\n".join(_counted(phase, found) for phase, found in ((Phase.DECODE, decode), (Phase.PREFILL, prefill)) if found)


def _counted(phase: Phase, found: Sequence[Difference]) -> str:
    counts = Counter(each.verdict for each in found)
    said = ", ".join(f"{count} {'hold' if verdict == HOLDS and count > 1 else verdict}" for verdict, count in counts.most_common())
    judged = [each for each in found if each.verdict in (HOLDS, OFF)]
    head = f"**{wording.count(len(found), 'difference')} of {phase.value} steps: {said}.**"
    if not judged:
        return f"{head}\n"
    apart, near = [each.apart for each in judged], sum(each.apart_of_own_step <= POINTS for each in judged)
    return (
        f"{head} Those judged are at most {max(apart):.2f} points apart, half of them at most {median(apart):.2f}. As points of the"
        f" predicted step {near} of {len(judged)} are within {POINTS:g}.\n"
    )


def _differences(phase: Phase, found: Iterable[Difference]) -> str:
    rows = tuple(
        (
            *(
                each.cell,
                f"{each.other} - {each.one}",
                f"{each.measured:+.2f}",
                "" if each.half_width is None else f"{each.half_width:.2f}",
            ),
            *(str(each.runs), ", ".join(f"{points:+.2f}" for points in each.processes)),
            *(f"{each.foretold:+.2f}", "" if each.back_to_back is None else f"{each.back_to_back:+.2f}", f"{each.apart:.2f}", each.verdict),
        )
        for each in found
    )
    return f"## Differences between backends in {phase.value}\n\n{markdown_table(Table(DIFFERENCE_HEADER, rows))}\n" if rows else ""


def _steps(rows: Sequence[Row], phase: Phase) -> str:
    """Reported: what is judged are differences."""
    cells = (weighted for weighted in ground().plan.cells if weighted.cell.phase is phase)
    table = Table(STEP_HEADER, tuple(line for weighted in cells for arm in ARMS if (line := _step(rows, weighted, arm))))
    eager = "\nLaunched eagerly: a prefill of few tokens takes as long as the host needs to launch it.\n" if phase is Phase.PREFILL else ""
    return f"## {phase.value.capitalize()} steps\n{eager}\n{markdown_table(table)}\n" if table.rows else ""


def _step(rows: Sequence[Row], weighted: WeightedCell, arm: str) -> tuple[str, ...] | None:
    alone, turned = alone_ms(rows, weighted, arm), [ms for process in turns_ms(rows, weighted, arm).values() for ms in process]
    ours, theirs = predicted(rows, weighted, arm), turned or list(alone)
    if ours is None or not theirs:
        return None
    step = median(theirs)
    rest = _range(ours.rest_ms.low, ours.rest_ms.high, "{:.2f}")
    left = step - ours.own_ms
    inside = ours.rest_ms.low <= left and (ours.rest_ms.high is None or left <= ours.rest_ms.high)
    metadata = "" if ours.metadata_ms is None else f"{ours.metadata_ms:.3f}"
    engine = f"{step:.3f} ({min(theirs):.3f} to {max(theirs):.3f})" if len(theirs) > 1 else f"{step:.3f}"
    where = "as predicted" if inside else "more" if ours.rest_ms.high is not None and left > ours.rest_ms.high else "less"
    by_itself = ", ".join(f"{ms:.3f}" for ms in alone)
    return weighted.cell.name, arm, engine, by_itself, f"{ours.attention_ms:.3f}", metadata, rest, f"{left:.2f}: {where}"


def _range(low: float, high: float | None, form: str = "{:+.2f}") -> str:
    if high is None:
        return f"{form.format(low)} or more"
    return form.format(low) if form.format(low) == form.format(high) else f"{form.format(low)} to {form.format(high)}"


def _failures(rows: Iterable[Row]) -> tuple[str, ...]:
    lost = [(row, why) for row in rows for why in (*row.lacks, *([row.failed] if row.failed is not None else []))]
    if not lost:
        return ()
    said = "\n".join(f"- {' '.join(filter(None, (row.kind, str(row.index), row.arm)))}: {why}" for row, why in lost)
    return (f"## What failed\n\n{said}\n",)
