"""What a visit's rows of eager launches took, one by one."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("attnpin_visits", sa.Column("row_samples", sa.LargeBinary))
