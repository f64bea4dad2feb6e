"""SQLite files of tests: their tables are made by the statements that Alembic's sixteen steps led to the first time, which takes an eighth
of the time."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sqlalchemy import Connection

from store.database import schema, sqlite_file
from store.database.schema import SCRIPTS, VERSION_TABLE, stored_version
from store.tables.base import PREFIX

Upgrade = Callable[[Connection, str], None]
BY_ALEMBIC: Upgrade = schema._upgrade
NOT_TO_DISK = "PRAGMA synchronous=OFF"  # of a connection: no file of a test needs to outlive a power cut
MADE = f"SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND tbl_name LIKE '{PREFIX}%' ORDER BY rowid"


def replace(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(schema, "_upgrade", remembering(BY_ALEMBIC))
    patch.setattr(sqlite_file, "CONNECTION_SETTINGS", (*sqlite_file.CONNECTION_SETTINGS, NOT_TO_DISK))


def remembering(upgrade: Upgrade) -> Upgrade:
    """``upgrade`` (`store.database.schema._upgrade`), which takes every step for a server and for a store of an older version."""
    known: list[str] = []

    def upgraded(connection: Connection, scripts: str) -> None:
        if connection.dialect.name != "sqlite" or scripts != SCRIPTS or stored_version(connection) is not None:
            upgrade(connection, scripts)
        elif known:
            for statement in known:
                connection.exec_driver_sql(statement)
        else:
            upgrade(connection, scripts)
            known.extend(connection.exec_driver_sql(MADE).scalars())
            known.append(f"INSERT INTO {VERSION_TABLE} VALUES ('{stored_version(connection)}')")

    return upgraded
