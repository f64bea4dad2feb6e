"""Where runs came from that were not measured into this store."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "attnpin_origins",
        sa.Column("key", sa.Integer, primary_key=True),
        *(sa.Column(name, sa.Text, nullable=False) for name in ("kind", "id", "sha256")),
        sa.Column("trusted", sa.Boolean, nullable=False),
        sa.Column("origin", sa.JSON(none_as_null=True), nullable=False),
    )
    op.create_index(None, "attnpin_origins", ["kind", "id"])
