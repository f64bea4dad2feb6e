"""Python's collector of cycles stands still while the host's time counts: a pass over an engine's objects takes longer than a call.

And while a graph is recorded: another graph that is collected meanwhile tells the driver so, which it does not allow then.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


def set_aside() -> None:
    """Leave what there is by now out of all later passes: with SGLang imported one takes 0.3 to 0.5 s, and every cell has some."""
    gc.freeze()


@contextmanager
def left_lying() -> Iterator[None]:
    """Nothing is collected meanwhile; afterwards as before."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()
