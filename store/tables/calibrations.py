"""Tables of what is known of a board apart from any run's arms: its noise, and the machine code of its anchors."""

from __future__ import annotations

from sqlalchemy import Index, LargeBinary, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from store.tables.base import Base, Json, Key, OfBoard


class CalibrationRow(OfBoard, Base):
    """``calibration`` is whole; the columns beside it are what it is looked for by."""

    __tablename__ = "attnpin_calibrations"
    __table_args__ = (Index(None, "board", "board_uuid"),)

    key: Mapped[Key]
    run: Mapped[str]
    created: Mapped[str]
    protocol: Mapped[int]
    calibration: Mapped[Json]


class MachineCodeRow(Base):
    """``source``: SHA-256 of what was compiled for ``architecture``. Never replaced: other code is another anchor."""

    __tablename__ = "attnpin_machine_code"
    __table_args__ = (UniqueConstraint("architecture", "source"),)

    key: Mapped[Key]
    architecture: Mapped[str]
    source: Mapped[str]
    code: Mapped[bytes] = mapped_column(LargeBinary)
