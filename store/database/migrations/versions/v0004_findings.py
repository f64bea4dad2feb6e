"""What the doctor found where the arms ran."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("attnpin_runs", sa.Column("findings", sa.JSON(none_as_null=True)))
