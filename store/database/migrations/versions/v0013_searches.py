"""What a search among knobs tried before the race."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("attnpin_runs", sa.Column("searched", sa.JSON(none_as_null=True)))
