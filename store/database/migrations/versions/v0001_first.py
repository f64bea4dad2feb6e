"""The first schema. Never edited once released: what comes later is a migration of its own.

Names of keys and indexes follow the convention in `store.tables.base`.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    create_questions()
    create_answers()
    create_trials()
    create_rounds()


def create_questions() -> None:
    text = (whole("protocol"), *texts("digest status created tool_version command model traffic engine board"))
    maybe = texts("engine_version board_uuid driver torch cuda", nullable=True)
    table("runs", sa.Column("id", sa.Text, nullable=False, unique=True), *text, *maybe, *jsons("scenario environment default_pick notes"))
    index("runs", "digest", "status")
    table("arms", *of_run(), *texts("name backend provider kv_dtype"), whole("page_size"), *jsons("arm"), unique("run_key", "name"))
    index("arms", "backend")
    shares = reals("calls_per_1000_tokens token_share", nullable=False)
    table("cells", *of_run(), *texts("name digest phase"), whole("layers"), *shares, *jsons("cell"), unique("run_key", "name"))
    index("cells", "digest")
    table("exclusions", *of_run(), *texts("backend"), *texts("phase", nullable=True), *jsons("reasons"))
    index("exclusions", "run_key")
    table("distributions", *of_run(), *texts("name version digest"), unique("run_key", "ordinal"))
    index("distributions", "name", "version")


def create_answers() -> None:
    picks = texts("pick_prefill pick_decode", nullable=True)
    table("decisions", of("runs", "run_key"), *texts("created ruling"), *picks, *jsons("decision"))
    index("decisions", "run_key")
    seconds = reals("seconds", nullable=False)
    table("wall_seconds", of("runs", "run_key"), *texts("phase"), *seconds, unique("run_key", "phase"))


def create_trials() -> None:
    table(
        "trials",
        *(of("runs", "run_key"), of("arms", "arm_key"), of("cells", "cell_key"), *texts("outcome")),
        *texts("detail resolved mode", nullable=True),
        *jsons("kernels", nullable=True),
        *reals("device_us served_us metadata_host_us metadata_idle_us relative_error needle_error"),
        *reals("bandwidth_bytes_per_s flops_per_s build_s capture_s"),
        whole("slots", nullable=True),
        *(sa.Column(name, sa.BigInteger) for name in ("pool_tokens", "peak_memory_bytes")),
    )
    index("trials", "run_key")
    index("trials", "arm_key", "cell_key")


def create_rounds() -> None:
    seed = sa.Column("seed", sa.BigInteger, nullable=False)
    table("rounds", of("runs", "run_key"), whole("number"), seed, *jsons("seconds labels"), unique("run_key", "number"))
    settled = sa.Column("settled", sa.Boolean, nullable=False)
    keys = of("rounds", "round_key"), of("cells", "cell_key")
    table("cell_rounds", *keys, whole("ordinal"), settled, *jsons("launches metadata_us"), unique("round_key", "cell_key"))
    index("cell_rounds", "cell_key")
    counts = (whole(name) for name in ("ordinal", "block", "position", "n"))
    samples = sa.Column("samples", sa.LargeBinary, nullable=False)
    keys = of("cell_rounds", "cell_round_key"), of("arms", "arm_key")
    table("visits", *keys, *counts, *reals("median_us", nullable=False), samples)
    index("visits", "arm_key")
    index("visits", "cell_round_key")


def table(name: str, *parts: Any) -> None:
    op.create_table(f"attnpin_{name}", sa.Column("key", sa.Integer, primary_key=True), *parts)


def index(name: str, *columns: str) -> None:
    op.create_index(None, f"attnpin_{name}", list(columns))


def unique(*columns: str) -> Any:
    return sa.UniqueConstraint(*columns)


def of(name: str, column: str) -> Any:
    return sa.Column(column, sa.Integer, sa.ForeignKey(f"attnpin_{name}.key"), nullable=False)


def of_run() -> tuple[Any, ...]:
    return of("runs", "run_key"), whole("ordinal")


def whole(name: str, nullable: bool = False) -> Any:
    return sa.Column(name, sa.Integer, nullable=nullable)


def texts(names: str, nullable: bool = False) -> tuple[Any, ...]:
    return tuple(sa.Column(name, sa.Text, nullable=nullable) for name in names.split())


def reals(names: str, nullable: bool = True) -> tuple[Any, ...]:
    return tuple(sa.Column(name, sa.Double, nullable=nullable) for name in names.split())


def jsons(names: str, nullable: bool = False) -> tuple[Any, ...]:
    return tuple(sa.Column(name, sa.JSON(none_as_null=True), nullable=nullable) for name in names.split())
