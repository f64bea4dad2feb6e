"""What is asked of a check that may measure."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Request:
    """``renew``: write the pin anew. ``confirm``: both versions side by side where stored times do not settle it, the old ones from
    the folder ``wheels`` or an index."""

    path: Path
    renew: bool = False
    confirm: bool = True
    wheels: str | None = None
