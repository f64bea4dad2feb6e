"""How long a stretch of code spends importing, wherever in it the imports stand."""

from __future__ import annotations

import builtins
import importlib
import time
from collections.abc import Callable
from typing import Any


class ImportClock:
    """``seconds`` spent importing while the clock is open, by import statements and `importlib.import_module` alike.

    An import within an import is part of the outer one. Open it in one thread at a time: it stands in for both functions.
    """

    def __init__(self, now: Callable[[], float] = time.perf_counter) -> None:
        self.seconds = 0.0
        self._now = now
        self._inside = False
        self._replaced: tuple[Callable[..., Any], Callable[..., Any]] = (builtins.__import__, importlib.import_module)

    def __enter__(self) -> ImportClock:
        self._replaced = builtins.__import__, importlib.import_module
        builtins.__import__, importlib.import_module = map(self._timed, self._replaced)
        return self

    def __exit__(self, *error: object) -> None:
        builtins.__import__, importlib.import_module = self._replaced

    def _timed(self, imported: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*arguments: Any, **named: Any) -> Any:
            if self._inside:
                return imported(*arguments, **named)
            self._inside, start = True, self._now()
            try:
                return imported(*arguments, **named)
            finally:
                self._inside = False
                self.seconds += self._now() - start

        return timed
