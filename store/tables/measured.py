"""Tables of what was measured: trials, and rounds with their visits and samples."""

from __future__ import annotations

from sqlalchemy import ForeignKey, Index, LargeBinary, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from store.tables.base import ArmKey, Base, Big, CellKey, Json, Key, RunKey
from store.tables.runs import ArmRow, CellRow


class TrialRow(Base):
    """One attempt. Of several of one arm on one cell the last counts; the others are kept."""

    __tablename__ = "attnpin_trials"
    __table_args__ = (Index(None, "arm_key", "cell_key"),)

    key: Mapped[Key]
    run_key: Mapped[RunKey] = mapped_column(index=True)
    arm_key: Mapped[ArmKey]
    cell_key: Mapped[CellKey]
    outcome: Mapped[str]
    detail: Mapped[str | None]
    resolved: Mapped[str | None]
    mode: Mapped[str | None]
    kernels: Mapped[Json | None]
    device_us: Mapped[float | None]
    served_us: Mapped[float | None]
    metadata_host_us: Mapped[float | None]
    metadata_idle_us: Mapped[float | None]
    relative_error: Mapped[float | None]
    needle_error: Mapped[float | None]
    bandwidth_bytes_per_s: Mapped[float | None]
    flops_per_s: Mapped[float | None]
    slots: Mapped[int | None]
    pool_tokens: Mapped[Big | None]
    peak_memory_bytes: Mapped[Big | None]
    build_s: Mapped[float | None]
    capture_s: Mapped[float | None]
    kernel_files: Mapped[Json | None]
    rms_error: Mapped[float | None]
    workspace_bytes: Mapped[Big | None]
    graph_bytes: Mapped[Big | None]
    open_s: Mapped[float | None]
    first_call_s: Mapped[float | None]
    nodes: Mapped[Json | None]
    soundness: Mapped[Json | None]
    autotuned: Mapped[Json | None]
    labels: Mapped[Json | None]
    probed_in: Mapped[str | None]

    arm: Mapped[ArmRow] = relationship()
    cell: Mapped[CellRow] = relationship()


class RoundRow(Base):
    """One fresh process. ``number`` is the round's index: the constraint is what keeps two writers from sharing one."""

    __tablename__ = "attnpin_rounds"
    __table_args__ = (UniqueConstraint("run_key", "number"),)

    key: Mapped[Key]
    run_key: Mapped[RunKey]
    number: Mapped[int]
    seed: Mapped[Big]
    seconds: Mapped[Json]
    labels: Mapped[Json]
    confirms: Mapped[bool | None]
    quiet: Mapped[bool | None]
    board: Mapped[str | None]

    cells: Mapped[list[CellRoundRow]] = relationship(order_by="CellRoundRow.ordinal", lazy="selectin")


class CellRoundRow(Base):
    __tablename__ = "attnpin_cell_rounds"
    __table_args__ = (UniqueConstraint("round_key", "cell_key"),)

    key: Mapped[Key]
    round_key: Mapped[int] = mapped_column(ForeignKey("attnpin_rounds.key"))
    cell_key: Mapped[CellKey] = mapped_column(index=True)
    ordinal: Mapped[int]
    settled: Mapped[bool]
    launches: Mapped[Json]
    metadata_us: Mapped[Json]
    first_call_s: Mapped[Json | None]
    code_ids: Mapped[Json | None]
    spacer_us: Mapped[float | None]
    conditions: Mapped[Json | None]
    voided: Mapped[Json | None]

    cell: Mapped[CellRow] = relationship()
    visits: Mapped[list[VisitRow]] = relationship(order_by="VisitRow.ordinal", lazy="selectin")


class VisitRow(Base):
    """``samples``: float64, little-endian, ``n`` of them; ``median_us`` is theirs, for queries. ``row_samples``: those of its rows of
    launches, likewise; ``served_us`` is their median."""

    __tablename__ = "attnpin_visits"

    key: Mapped[Key]
    cell_round_key: Mapped[int] = mapped_column(ForeignKey("attnpin_cell_rounds.key"), index=True)
    arm_key: Mapped[ArmKey] = mapped_column(index=True)
    ordinal: Mapped[int]
    block: Mapped[int]
    position: Mapped[int]
    n: Mapped[int]
    median_us: Mapped[float]
    samples: Mapped[bytes] = mapped_column(LargeBinary)
    served_us: Mapped[float | None]
    sm_clock_mhz: Mapped[float | None]
    row_samples: Mapped[bytes | None] = mapped_column(LargeBinary)

    arm: Mapped[ArmRow] = relationship()
