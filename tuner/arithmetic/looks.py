"""After how many fresh processes one looks and may stop: fixed beforehand, since who looks whenever he likes finds what luck brought.

Each of L looks spends an L-th of the error that the whole comparison may make.
"""

from __future__ import annotations

from collections.abc import Sequence

RANKING = (4, 6, 8, 14)  # of arms in one run
VERSIONS = (4, 6, 9, 14)  # of pairs of processes, one a version
CONFIRMING = 2  # processes after the choice, in which the pick is measured again
REVISITS = 2  # processes after the race, in which its finalists are measured under other conditions


def looks_up_to(most: int, schedule: Sequence[int] = RANKING) -> tuple[int, ...]:
    """The looks of a comparison that ends after ``most`` processes at the latest: always the last one among them."""
    return (*(look for look in schedule if look < most), most)
