"""What is known of a board apart from any run's arms, and what a run took from it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "attnpin_calibrations",
        sa.Column("key", sa.Integer, primary_key=True),
        *(sa.Column(name, sa.Text, nullable=False) for name in ("run", "created", "board")),
        *(sa.Column(name, sa.Text) for name in ("board_uuid", "driver", "mig")),
        sa.Column("protocol", sa.Integer, nullable=False),
        sa.Column("power_limit_w", sa.Double),
        sa.Column("calibration", sa.JSON(none_as_null=True), nullable=False),
    )
    op.create_index(None, "attnpin_calibrations", ["board", "board_uuid"])
    op.create_table(
        "attnpin_machine_code",
        sa.Column("key", sa.Integer, primary_key=True),
        *(sa.Column(name, sa.Text, nullable=False) for name in ("architecture", "source")),
        sa.Column("code", sa.LargeBinary, nullable=False),
        sa.UniqueConstraint("architecture", "source"),
    )
    op.add_column("attnpin_runs", sa.Column("noise_floor", sa.JSON(none_as_null=True)))
