"""Where a row of releases turns, by halving. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from store.verdicts.bisection import Turn


def turn(releases: Sequence[str], turned: Callable[[str], bool | None]) -> Turn:
    """The first of ``releases`` for which ``turned`` holds; it is known not to for the first of them and to for the last.

    ``turned`` answers None where it cannot be told; the nearest release is asked then. Asks at most ceil(log2(n)) of the n that may
    be the first, and one more for each None. Where the row turns more than once, one of the turns is found.
    """
    before, after = 0, len(releases) - 1
    silent: set[int] = set()
    while untold := [place for place in range(before + 1, after) if place not in silent]:
        middle = untold[len(untold) // 2]
        answer = turned(releases[middle])
        if answer is None:
            silent.add(middle)
        elif answer:
            after = middle
        else:
            before = middle
    return Turn(releases[before], tuple(releases[before + 1 : after + 1]))
