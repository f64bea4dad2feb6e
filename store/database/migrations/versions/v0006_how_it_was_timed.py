"""How far a time hangs on how it was taken, which kernels ran, what a visit took with its host, what the board was like."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

JSONS = {
    "attnpin_trials": ("nodes", "soundness", "autotuned", "labels"),
    "attnpin_cell_rounds": ("code_ids", "conditions", "voided"),
}
REALS = {"attnpin_cell_rounds": ("spacer_us",), "attnpin_visits": ("served_us", "sm_clock_mhz")}


def upgrade() -> None:
    for table, names in JSONS.items():
        for name in names:
            op.add_column(table, sa.Column(name, sa.JSON(none_as_null=True)))
    for table, names in REALS.items():
        for name in names:
            op.add_column(table, sa.Column(name, sa.Double))
    op.add_column("attnpin_rounds", sa.Column("quiet", sa.Boolean))
