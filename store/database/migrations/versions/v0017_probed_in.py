"""The earlier run that a trial was taken over from."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("attnpin_trials", sa.Column("probed_in", sa.Text))
