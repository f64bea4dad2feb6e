"""What an arm costs beside its time: device memory, opening, first calls, mean error; and the terms each arm serves on."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for name in ("rms_error", "open_s", "first_call_s"):
        op.add_column("attnpin_trials", sa.Column(name, sa.Double))
    for name in ("workspace_bytes", "graph_bytes"):
        op.add_column("attnpin_trials", sa.Column(name, sa.BigInteger))
    op.add_column("attnpin_cell_rounds", sa.Column("first_call_s", sa.JSON(none_as_null=True)))
    op.add_column("attnpin_runs", sa.Column("terms", sa.JSON(none_as_null=True)))
