"""The table of what a step takes beside attention, by board and shape."""

from __future__ import annotations

from sqlalchemy import Index
from sqlalchemy.orm import Mapped

from store.tables.base import Base, Json, Key, OfBoard


class RestRow(OfBoard, Base):
    """``rest`` is whole; the columns beside it are what it is looked for by. ``shape``: the SHA-256 of its shape."""

    __tablename__ = "attnpin_rests"
    __table_args__ = (Index(None, "board", "shape"),)

    key: Mapped[Key]
    created: Mapped[str]
    protocol: Mapped[int]
    torch: Mapped[str | None]
    shape: Mapped[str]
    rest: Mapped[Json]
