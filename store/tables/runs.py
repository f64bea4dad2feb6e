"""Tables of a run and of what it was asked: environment, arms, cells, exclusions; and of what was decided.

Rows never leave the repository functions.
"""

from __future__ import annotations

from sqlalchemy import Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from store.tables.base import Base, Json, Key, RunKey


class RunRow(Base):
    __tablename__ = "attnpin_runs"
    __table_args__ = (Index(None, "digest", "status"), Index(None, "model", "traffic", "board", "status"))

    key: Mapped[Key]
    id: Mapped[str] = mapped_column(unique=True)
    digest: Mapped[str]
    protocol: Mapped[int]
    status: Mapped[str]
    created: Mapped[str]
    tool_version: Mapped[str]
    command: Mapped[str]
    model: Mapped[str]
    traffic: Mapped[str]
    engine: Mapped[str]
    engine_version: Mapped[str | None]
    board: Mapped[str]
    board_uuid: Mapped[str | None]
    driver: Mapped[str | None]
    torch: Mapped[str | None]
    cuda: Mapped[str | None]
    scenario: Mapped[Json]
    environment: Mapped[Json]
    default_pick: Mapped[Json]
    notes: Mapped[Json]
    left_out: Mapped[Json | None]
    terms: Mapped[Json | None]
    findings: Mapped[Json | None]
    noise_floor: Mapped[Json | None]
    revisits: Mapped[Json | None]
    anchors: Mapped[Json | None]
    searched: Mapped[Json | None]
    rests: Mapped[Json | None]

    arms: Mapped[list[ArmRow]] = relationship(order_by="ArmRow.ordinal", lazy="selectin")
    cells: Mapped[list[CellRow]] = relationship(order_by="CellRow.ordinal", lazy="selectin")
    exclusions: Mapped[list[ExclusionRow]] = relationship(order_by="ExclusionRow.ordinal", lazy="selectin")
    distributions: Mapped[list[DistributionRow]] = relationship(order_by="DistributionRow.ordinal")
    decisions: Mapped[list[DecisionRow]] = relationship(order_by="DecisionRow.key", lazy="selectin")
    wall_seconds: Mapped[list[WallSecondsRow]] = relationship(order_by="WallSecondsRow.key", lazy="selectin")


class DistributionRow(Base):
    """One installed distribution of a run's environment, so that results can be asked for by library version."""

    __tablename__ = "attnpin_distributions"
    __table_args__ = (UniqueConstraint("run_key", "ordinal"), Index(None, "name", "version"))

    key: Mapped[Key]
    run_key: Mapped[RunKey]
    ordinal: Mapped[int]
    name: Mapped[str]
    version: Mapped[str]
    digest: Mapped[str]


class ArmRow(Base):
    __tablename__ = "attnpin_arms"
    __table_args__ = (UniqueConstraint("run_key", "name"),)

    key: Mapped[Key]
    run_key: Mapped[RunKey]
    ordinal: Mapped[int]
    name: Mapped[str] = mapped_column(index=True)
    backend: Mapped[str] = mapped_column(index=True)
    provider: Mapped[str]
    page_size: Mapped[int]
    kv_dtype: Mapped[str]
    arm: Mapped[Json]


class CellRow(Base):
    """``digest`` is the same for the same cell in every run, whatever it is called there."""

    __tablename__ = "attnpin_cells"
    __table_args__ = (UniqueConstraint("run_key", "name"),)

    key: Mapped[Key]
    run_key: Mapped[RunKey]
    ordinal: Mapped[int]
    name: Mapped[str] = mapped_column(index=True)
    digest: Mapped[str] = mapped_column(index=True)
    phase: Mapped[str]
    layers: Mapped[int]
    calls_per_1000_tokens: Mapped[float]
    token_share: Mapped[float]
    cell: Mapped[Json]


class ExclusionRow(Base):
    __tablename__ = "attnpin_exclusions"

    key: Mapped[Key]
    run_key: Mapped[RunKey] = mapped_column(index=True)
    ordinal: Mapped[int]
    backend: Mapped[str]
    phase: Mapped[str | None]
    reasons: Mapped[Json]


class DecisionRow(Base):
    """Every decision taken on a run; the newest counts."""

    __tablename__ = "attnpin_decisions"

    key: Mapped[Key]
    run_key: Mapped[RunKey] = mapped_column(index=True)
    created: Mapped[str]
    ruling: Mapped[str]
    pick_prefill: Mapped[str | None]
    pick_decode: Mapped[str | None]
    decision: Mapped[Json]


class WallSecondsRow(Base):
    __tablename__ = "attnpin_wall_seconds"
    __table_args__ = (UniqueConstraint("run_key", "phase"),)

    key: Mapped[Key]
    run_key: Mapped[RunKey]
    phase: Mapped[str]
    seconds: Mapped[float]
