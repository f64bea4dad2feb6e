"""What the board's anchors took around a run."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("attnpin_runs", sa.Column("anchors", sa.JSON(none_as_null=True)))
