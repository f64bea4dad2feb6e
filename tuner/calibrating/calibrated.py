"""What is known of the noise of the board that a run is measured on."""

from __future__ import annotations

from datetime import UTC, datetime

from backends.environment import Board
from store.boards.calibration import NoiseFloor
from store.boards.calibrations import calibration_for
from store.database.connect import Store
from store.runs.run import PROTOCOL_VERSION


def noise_floor(store: Store, board: Board) -> NoiseFloor | None:
    """Of the newest calibration that holds for ``board`` as it is today."""
    found = calibration_for(store, board, PROTOCOL_VERSION, datetime.now(UTC))
    return found.floor if found else None


def neighbours_are_harmless(store: Store, board: Board) -> bool:
    """Whether the newest calibration that asked about them has shown it."""
    found = calibration_for(store, board, PROTOCOL_VERSION, datetime.now(UTC), neighbours=True)
    return found is not None and found.neighbours_are_harmless
