"""The schema's version, and how a store reaches it: Alembic, run from here without an ini file."""

from __future__ import annotations

from sqlalchemy import Connection, Engine, inspect, text

from store.database import postgresql
from store.database.transactions import WRITES
from store.errors import NewerSchema
from store.tables.base import PREFIX

SCHEMA = "0017"
# Our own: Optuna keeps its revision in "alembic_version" and refuses a database where it finds a foreign one.
VERSION_TABLE = f"{PREFIX}version"
SCRIPTS = "store.database:migrations"


def bring_up_to_date(engine: Engine, name: str, head: str = SCHEMA, scripts: str = SCRIPTS) -> None:
    """Create or upgrade the tables in one transaction, which begins with the write lock where there is one.

    Raises `NewerSchema` where a newer attnpin has been.
    """
    # Asked without the lock first: nearly always there is nothing to do, and a store on a read-only disk can be read.
    with engine.connect().execution_options(**{WRITES: False}) as connection:
        if stored_version(connection) == head:
            return
    with engine.begin() as connection:
        postgresql.one_at_a_time(connection, VERSION_TABLE)
        version = stored_version(connection)
        if version is not None:
            refuse_newer(version, name, head)
        if version != head:
            _upgrade(connection, scripts)


def refuse_newer(version: str, name: str, head: str = SCHEMA) -> None:
    if version > head:
        raise NewerSchema(
            f"store {name} has schema {version} and this attnpin knows schemas up to {head}; "
            "install a newer attnpin or set store.url to another store"
        )


def stored_version(connection: Connection) -> str | None:
    """None = not one of ours yet."""
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    return connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar()


def is_ours(table: str | None) -> bool:
    return table is not None and table.startswith(PREFIX)


def _upgrade(connection: Connection, scripts: str) -> None:
    from alembic import command  # 0.1 s of import, needed once in a store's life
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", scripts.replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
