"""What all tables share: the base class, the prefix of their names, the column kinds.

Every name starts with ``attnpin_``, so that the tables can lie in one database with another tool's (Optuna's has a
``trials`` too). ``ordinal`` columns keep the order of the records they came from; where there is none, ``key`` does.
JSON holds what is read back whole; what a query may ask for has a column of its own.
"""

from __future__ import annotations

from typing import Annotated, Any

from sqlalchemy import JSON, BigInteger, Double, ForeignKey, MetaData, Text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

PREFIX = "attnpin_"

Key = Annotated[int, mapped_column(primary_key=True)]
RunKey = Annotated[int, mapped_column(ForeignKey("attnpin_runs.key"))]
ArmKey = Annotated[int, mapped_column(ForeignKey("attnpin_arms.key"))]
CellKey = Annotated[int, mapped_column(ForeignKey("attnpin_cells.key"))]
Big = Annotated[int, mapped_column(BigInteger)]
Json = Annotated[Any, mapped_column(JSON(none_as_null=True))]


class Base(DeclarativeBase):
    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map = {str: Text, float: Double}


class OfBoard:
    """Columns of a row that holds for one board alone: those of `store.boards.calibration.BoardKey`."""

    board: Mapped[str]
    board_uuid: Mapped[str | None]
    driver: Mapped[str | None]
    power_limit_w: Mapped[float | None]
    mig: Mapped[str | None]
