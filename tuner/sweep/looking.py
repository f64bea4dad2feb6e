"""What each scenario of a sweep comes to, looked at before the first one is begun.

Hydra takes a fraction of a second for each; of many on every processor at once.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context

from tuner.command_line.boundary import say
from tuner.settings import Settings, compose
from tuner.sweep.wishes import Wish

FEW = 16  # up to so many processes are not worth starting
EACH_S = 0.25  # of a core; judgement, for cores that are free


def looking_s(count: int) -> float:
    """How long it takes to look at so many, before any is begun."""
    return EACH_S * count / (1 if count <= FEW else len(os.sched_getaffinity(0)))


def looked_at(wishes: Sequence[Wish], config_dir: str | None) -> list[Settings | Exception]:
    """What each comes to, or why it comes to nothing: a wrong one costs the others nothing."""
    if len(wishes) <= FEW:
        return [_looked_at(wish, config_dir) for wish in wishes]
    say(f"looking at {len(wishes)} scenarios")
    with ProcessPoolExecutor(len(os.sched_getaffinity(0)), get_context("fork")) as pool:
        good = pool.map(partial(_good, config_dir=config_dir), wishes, chunksize=8)
        return [_looked_at(wish, config_dir) if each is None else each for wish, each in zip(wishes, good)]


def _looked_at(wish: Wish, config_dir: str | None) -> Settings | Exception:
    try:
        return compose(wish, config_dir)
    except Exception as error:
        return error


def _good(wish: Wish, config_dir: str | None) -> Settings | None:
    """None for one that is not: not every exception can be handed to another process."""
    found = _looked_at(wish, config_dir)
    return found if isinstance(found, Settings) else None
