"""What was measured of the finalists after a race, under conditions that it leaves out."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("attnpin_runs", sa.Column("revisits", sa.JSON(none_as_null=True)))
