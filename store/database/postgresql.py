"""What is PostgreSQL's own: how long a connection waits, how its transactions begin, and who waits for whom.

Writers to one run wait for one another at its row (`locked`), those that begin one at a name (`one_at_a_time`); writers to
different runs do not meet. SQLite has one writer at a time and needs neither.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import URL, Connection, Engine, Select, event, func, select
from sqlalchemy.orm import Session

from store.database.transactions import writes

NAME, DRIVER = "postgresql", "psycopg"
LOCK_TIMEOUT_S = 30
IDLE_TIMEOUT_S = 60  # a process that is stopped in the middle of a transaction loses it, and those behind it go on

# By the names of libpq's parameters (postgresql.org/docs/current/libpq-connect.html); what the URL says comes first. A host that no
# longer answers is noticed within half a minute. `prepare_threshold`: connections are short, and poolers mix up prepared statements.
PARAMETERS: dict[str, Any] = {
    **{"connect_timeout": 10, "tcp_user_timeout": 30_000, "application_name": "attnpin"},
    **{"keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 4},
}
PSYCOPG = {"prepare_threshold": None}

# Each holds for one transaction, so that a pooler between may hand the connection on.
IDLE = f"set_config('idle_in_transaction_session_timeout', '{IDLE_TIMEOUT_S}s', true)"
READER = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"
WRITER = f"SELECT set_config('lock_timeout', '{LOCK_TIMEOUT_S}s', true), {IDLE}"


def with_driver(url: URL) -> URL:
    """ "postgresql://" and "postgres://", as they are written elsewhere, are meant for the driver that is tested."""
    return url.set(drivername=f"{NAME}+{DRIVER}") if url.drivername in (NAME, "postgres") else url


def parameters(url: URL) -> dict[str, Any]:
    """What a connection is opened with beside ``url``; nothing where that names another driver or database."""
    if url.drivername != f"{NAME}+{DRIVER}":
        return {}
    return PSYCOPG | {name: value for name, value in PARAMETERS.items() if name not in url.query}


def listen(engine: Engine) -> None:
    """A reader sees one state of the store throughout; a writer sees what was stored by the time it has its lock."""

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        connection.exec_driver_sql(WRITER if writes(connection) else READER)


def one_at_a_time(session: Session | Connection, name: str) -> None:
    """Others that give the same ``name`` wait until the transaction ends."""
    bound = session if isinstance(session, Connection) else session.connection()
    if bound.dialect.name == NAME:
        bound.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(name, 0))))


def locked(rows: Select[Any]) -> Select[Any]:
    """``rows``, which no other writer changes until the transaction ends; they can be read and referred to."""
    return rows.with_for_update(key_share=True)
