"""What was measured: a row for each process that ended."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from backends.step.shape import RestTimes
from tests.bench import row_file

ROWS = Path(__file__).with_name("rows.jsonl.zst")


@dataclass(frozen=True)
class Call:
    """Microseconds of one attention call of ``backend`` on ``cell``, one value a visit; ``metadata_us`` of the step's metadata, until the
    device is idle again, None = not timed."""

    cell: str
    backend: str
    us: tuple[float, ...]
    metadata_us: float | None = None


@dataclass(frozen=True)
class Step:
    """The engine's own: the median of its decode steps, and one prefill."""

    cell: str
    decode_ms: float
    prefill_ms: float


@dataclass(frozen=True)
class Turns:
    """The engine's steps of a cell with ``arm``, in turns with the other arms: ms, one value a run."""

    cell: str
    arm: str
    ms: tuple[float, ...]


@dataclass(frozen=True)
class Row:
    """One process. ``arm``: the backend, or "prefill/decode", of kinds that have one; ``sitting`` tells processes of one GPU. ``failed``:
    it brought nothing, and why; ``lacks``: what of it is missing, and why."""

    kind: str
    index: int
    arm: str | None
    sitting: str
    board: str
    versions: tuple[tuple[str, str], ...]
    wall_s: float
    rests: tuple[RestTimes, ...] = ()
    calls: tuple[Call, ...] = ()
    steps: tuple[Step, ...] = ()
    turns: tuple[Turns, ...] = ()
    lacks: tuple[str, ...] = ()
    failed: str | None = None


def read_rows(*files: Path) -> tuple[Row, ...]:
    return row_file.read(Row, *files)
