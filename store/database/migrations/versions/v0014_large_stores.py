"""What a store of millions of trials is asked by: runs of one model, traffic and board; arms and cells by name."""

from __future__ import annotations

from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index(None, "attnpin_runs", ["model", "traffic", "board", "status"])
    op.create_index(None, "attnpin_arms", ["name"])
    op.create_index(None, "attnpin_cells", ["name"])
