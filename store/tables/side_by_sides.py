"""The table of comparisons: which two runs were measured in pairs."""

from __future__ import annotations

from sqlalchemy import ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from store.tables.base import Base, Json, Key


class SideBySideRow(Base):
    __tablename__ = "attnpin_side_by_sides"
    __table_args__ = (Index(None, "digest", "status"),)

    key: Mapped[Key]
    id: Mapped[str] = mapped_column(unique=True)
    digest: Mapped[str]
    status: Mapped[str]
    created: Mapped[str]
    command: Mapped[str]
    said: Mapped[Json]
    together: Mapped[bool]
    baseline_key: Mapped[int] = mapped_column(ForeignKey("attnpin_runs.key"))
    candidate_key: Mapped[int] = mapped_column(ForeignKey("attnpin_runs.key"))
