"""What steps take beside attention, by board, and what a run took from it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "attnpin_rests",
        sa.Column("key", sa.Integer, primary_key=True),
        *(sa.Column(name, sa.Text, nullable=False) for name in ("created", "board", "shape")),
        *(sa.Column(name, sa.Text) for name in ("board_uuid", "driver", "mig", "torch")),
        sa.Column("protocol", sa.Integer, nullable=False),
        sa.Column("power_limit_w", sa.Double),
        sa.Column("rest", sa.JSON(none_as_null=True), nullable=False),
    )
    op.create_index(None, "attnpin_rests", ["board", "shape"])
    op.add_column("attnpin_runs", sa.Column("rests", sa.JSON(none_as_null=True)))
