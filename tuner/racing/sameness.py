"""Whether one round may stand beside the others of its run: the same kernels under the same names, the same power limit. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median

from backends.measured import Round, Trial
from backends.timing.ways import OVERLAPS
from reports.numbers import microseconds
from store.runs.run import Run

Key = tuple[str, str]  # arm, cell
Kernels = dict[Key, str]


def changed_kernels(earlier: Iterable[Round], measured: Round) -> str | None:
    """The sentence for an arm that ran other kernels in ``measured`` than in an earlier round; None where none did, or where the
    driver did not tell. Of several earlier rounds the first counts."""
    before: dict[Key, tuple[str, Round]] = {}
    for each in earlier:
        before = {key: (code, each) for key, code in kernels_of(each).items()} | before
    for (arm, cell), code in kernels_of(measured).items():
        code_before, then = before.get((arm, cell), (code, measured))
        if code_before != code:
            now, earlier_on = (f"{told}{_took(when, arm, cell)}" for told, when in ((code, measured), (code_before, then)))
            return f"{arm} ran other kernels on {cell} than in the rounds before (code {now}; before {earlier_on})"
    return None


def _took(measured: Round, arm: str, cell: str) -> str:
    """ ", 326.0 us a call"; "" where it was not timed."""
    visits = [visit for each in measured.cells if each.cell == cell for visit in each.visits if visit.arm == arm]
    return f", {microseconds(median(median(visit.sample_us) for visit in visits))} a call" if visits else ""


def changed_limit(run: Run, measured: Round) -> str | None:
    """The sentence for a power limit that is not the one this run was begun under; None where it is, or is not told."""
    then = run.environment.board.power_limit_w
    told = [cell.conditions.power_limit_w for cell in measured.cells if cell.conditions and cell.conditions.power_limit_w]
    now = next((limit for span in told for limit in span if limit != then), None)
    if then is None or now is None:
        return None
    return f"the power limit is {now:.0f} W now and was {then:.0f} W when run {run.id} began; set it back, or start anew with fresh=true"


def spaced_cells(trials: Iterable[Trial]) -> tuple[str, ...]:
    """Cells on which one call of some arm began inside the one before it: there all arms are timed with a kernel between."""
    found = (trial.cell for trial in trials if any(label.startswith(OVERLAPS) for label in trial.labels))
    return tuple(dict.fromkeys(found))


def kernels_of(measured: Round) -> Kernels:
    """As far as the driver told."""
    return {(arm, cell.cell): code for cell in measured.cells for arm, code in cell.code_ids}
