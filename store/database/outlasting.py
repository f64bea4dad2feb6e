"""A server that is restarted costs a measurement nothing: what was asked of the store is asked again until it is back."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from store.database.connect import Store
from store.errors import ServerGone

P = ParamSpec("P")
T = TypeVar("T")

PATIENCE_S = 120.0
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.1, 5.0


def outlasts_a_restart(call: Callable[Concatenate[Store, P], T]) -> Callable[Concatenate[Store, P], T]:
    """``call`` from its beginning whenever the server goes away, for `PATIENCE_S`; then `ServerGone`.

    Whether a transaction was stored whose confirmation did not arrive nobody can tell, so ``call`` must bear being made twice.
    """

    @wraps(call)
    def repeated(store: Store, /, *args: P.args, **kwargs: P.kwargs) -> T:
        deadline = time.monotonic() + PATIENCE_S
        for pause_s in _pauses():
            try:
                return call(store, *args, **kwargs)
            except ServerGone:
                if time.monotonic() + pause_s > deadline:
                    raise
            time.sleep(pause_s)
        raise AssertionError("pauses never end")

    return repeated


def _pauses() -> Iterator[float]:
    pause_s = FIRST_PAUSE_S
    while True:
        yield pause_s
        pause_s = min(2 * pause_s, LONGEST_PAUSE_S)
