"""Run by Alembic, on the connection and inside the transaction that `store.database.schema` opened."""

from __future__ import annotations

from alembic import context

from store.database.schema import VERSION_TABLE, is_ours
from store.tables import measured, runs  # noqa: F401  the models register themselves
from store.tables.base import Base

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    version_table=VERSION_TABLE,
    include_name=lambda name, kind, _parents: kind != "table" or is_ours(name),
)
with context.begin_transaction():
    context.run_migrations()
