"""Whether a SQLite file holds anything that came from elsewhere, asked without SQLAlchemy, whose import takes longer than a plan."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

ASKED = "SELECT EXISTS (SELECT 1 FROM attnpin_origins)"


def holds_foreign(file: Path) -> bool:
    """False, too, for a file that is not there, is no database of ours, or is older than the first that could take anything in."""
    try:
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            return bool(connection.execute(ASKED).fetchone()[0])
    except sqlite3.Error:
        return False
