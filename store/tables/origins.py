"""The table of what came from elsewhere."""

from __future__ import annotations

from sqlalchemy import Index
from sqlalchemy.orm import Mapped

from store.tables.base import Base, Json, Key


class OriginRow(Base):
    """``kind`` and ``id`` of what was taken in, as it is called here; ``sha256`` of its value as it came; ``origin`` says from where."""

    __tablename__ = "attnpin_origins"
    __table_args__ = (Index(None, "kind", "id"),)

    key: Mapped[Key]
    kind: Mapped[str]
    id: Mapped[str]
    sha256: Mapped[str]
    trusted: Mapped[bool]
    origin: Mapped[Json]
