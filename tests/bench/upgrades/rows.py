"""The comparisons that are committed: one a line, compressed, with what their verdicts follow from and no more."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from backends.measured import Trial
from backends.wire import to_plain
from store.comparisons.comparison_evidence import public_comparison
from store.comparisons.side_by_side import SideBySide
from store.comparisons.side_by_sides import load_side_by_side
from store.database.connect import Store, open_store
from store.past.history import list_runs
from store.runs.run import FINISHED, Run
from tests.bench import row_file
from tests.bench.sittings.sitting import fingerprint, rounded

ROWS = Path(__file__).with_name("rows.jsonl.zst")
MAX_BYTES = 256 * 2**20  # unpacked
CANDIDATE = "candidate of "


def read_rows(file: Path = ROWS) -> tuple[SideBySide, ...]:
    """Oldest first; none of a file that is not there yet."""
    return row_file.read(SideBySide, file, max_bytes=MAX_BYTES)


def write_rows(rows: Iterable[SideBySide], file: Path = ROWS) -> None:
    """In place of what is there, at once."""
    lines = (json.dumps(rounded(to_plain(each)), sort_keys=True, separators=(",", ":")) + "\n" for each in in_order(rows))
    row_file.write(lines, file)


def in_order(rows: Iterable[SideBySide]) -> list[SideBySide]:
    return sorted(rows, key=lambda each: (each.created, each.id))


def added(known: Iterable[SideBySide], new: Iterable[SideBySide]) -> tuple[SideBySide, ...]:
    """``new`` beside ``known``, each once, as it was kept first."""
    return tuple(in_order({each.id: each for each in (*new, *known)}.values()))


def comparisons_in(database: Path) -> tuple[SideBySide, ...]:
    """Those of a GPU that came to an end, as they are kept."""
    if not database.is_file():
        raise FileNotFoundError(f"{database} is not there; give the SQLite file that comparisons left")
    found = finished(open_store(f"sqlite:///{database}"))
    return tuple(map(kept, filter(on_hardware, found)))


def finished(store: Store) -> Iterator[SideBySide]:
    sides = (run.side_of for run in list_runs(store) if run.status == FINISHED and run.side_of)
    names = (side.removeprefix(CANDIDATE) for side in sides if side.startswith(CANDIDATE))
    return (load_side_by_side(store, name) for name in names)


def on_hardware(measured: SideBySide) -> bool:
    return measured.baseline.environment.board.driver != "simulated"


def kept(measured: SideBySide) -> SideBySide:
    """Without what only a reader of one comparison wants to know, and without the name of the board."""
    shown = public_comparison(measured)
    return replace(shown, baseline=_thin(shown.baseline, measured.baseline), candidate=_thin(shown.candidate, measured.candidate))


def _thin(shown: Run, run: Run) -> Run:
    board = replace(run.environment.board, uuid=fingerprint(run.environment.board))
    environment = replace(shown.environment, board=board)
    nothing = dict.fromkeys(("exclusions", "notes", "terms", "findings", "wall_seconds"), ())
    return replace(shown, environment=environment, trials=tuple(map(_bare, shown.trials)), **nothing)  # type: ignore[arg-type]


def _bare(trial: Trial) -> Trial:
    """Which path it took; its kernels have long names, and are in the evidence of a comparison that is committed whole."""
    identity = None if trial.identity is None else replace(trial.identity, kernels=(), nodes=())
    return replace(trial, identity=identity, kernel_files=None)
