"""Two environments measured in one sitting: which run is which side."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "attnpin_side_by_sides",
        sa.Column("key", sa.Integer, primary_key=True),
        *(sa.Column(name, sa.Text, nullable=False) for name in ("id", "digest", "status", "created", "command")),
        sa.Column("said", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("together", sa.Boolean, nullable=False),
        *(sa.Column(name, sa.Integer, sa.ForeignKey("attnpin_runs.key"), nullable=False) for name in ("baseline_key", "candidate_key")),
        sa.UniqueConstraint("id"),
    )
    op.create_index(None, "attnpin_side_by_sides", ["digest", "status"])
