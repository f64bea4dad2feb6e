"""The sittings that are committed: one a line, compressed."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from backends.wire import to_plain
from store.boards.calibrations import anchors_of
from store.database.connect import open_store
from store.past.history import list_runs
from store.runs.repository import load_run
from tests.bench import row_file
from tests.bench.sittings.sitting import Sitting, is_sitting, sitting_of

ROWS = Path(__file__).with_name("rows.jsonl.zst")
MAX_BYTES = 256 * 2**20  # unpacked


def read_rows(file: Path = ROWS) -> tuple[Sitting, ...]:
    """Oldest first; none of a file that is not there yet."""
    return row_file.read(Sitting, file, max_bytes=MAX_BYTES)


def write_rows(sittings: Iterable[Sitting], file: Path = ROWS) -> None:
    """In place of what is there, at once."""
    lines = (json.dumps(to_plain(each), sort_keys=True, separators=(",", ":")) + "\n" for each in in_order(sittings))
    row_file.write(lines, file)


def in_order(sittings: Iterable[Sitting]) -> list[Sitting]:
    return sorted(sittings, key=lambda each: (each.created, each.run))


def added(known: Iterable[Sitting], new: Iterable[Sitting]) -> tuple[Sitting, ...]:
    """``new`` beside ``known``, each run once, as it was kept first."""
    return tuple(in_order({each.run: each for each in (*new, *known)}.values()))


def sittings_in(database: Path) -> tuple[Sitting, ...]:
    """Every finished sitting of a database. One whose last anchors were cut off is whole but for them."""
    if not database.is_file():
        raise FileNotFoundError(f"{database} is not there; give the SQLite file that a sitting left")
    store = open_store(f"sqlite:///{database}")
    runs = [load_run(store, each.id) for each in list_runs(store)]
    return tuple(sitting_of(run, anchors_of(store, run.id)) for run in runs if is_sitting(run))
