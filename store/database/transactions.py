"""What a transaction is begun for: each kind of database begins it in its own way."""

from __future__ import annotations

from sqlalchemy import Connection

WRITES = "attnpin_writes"


def writes(connection: Connection) -> bool:
    """Whether the transaction that begins on ``connection`` is to change something."""
    return bool(connection.get_execution_options().get(WRITES))
