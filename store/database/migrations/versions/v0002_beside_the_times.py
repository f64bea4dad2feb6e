"""What is kept of a run beside its times: where each arm's compiled kernels lay, and what there was no time for."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("attnpin_trials", sa.Column("kernel_files", sa.JSON(none_as_null=True)))
    op.add_column("attnpin_runs", sa.Column("left_out", sa.JSON(none_as_null=True)))
