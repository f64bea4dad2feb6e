"""V1 to V11 over many simulated comparisons: `python -m tests.bench.statistics [RUNS]`, ten minutes of one core with the default.

Prints each row as it is known, and leaves all of them where `tests.docs` makes docs/error-rates.md of them, unless they rest on
fewer runs than are worth keeping. Leaves with 1 where a target is missed. Races take a fifth of the runs: each is played process by
process.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np

from tests.bench.statistics import racing, recorded, stored, versions
from tests.bench.statistics.page import write_rows
from tests.bench.statistics.row import Row

SEED, RUNS, FEWEST = 20, 20_000, 4000


def claims(runs: int, seed: int = SEED) -> Iterator[Row]:
    """Each study has numbers of its own, so that more of one change no other."""
    streams = [np.random.default_rng(each) for each in np.random.SeedSequence(seed).spawn(4)]
    races = runs // 5
    yield from versions.claims(streams[0], runs)
    yield from racing.claims(streams[1], races)
    yield from stored.claims(streams[2], runs)
    yield from recorded.claims(streams[3], runs)


def main(runs: int) -> int:
    rows = []
    for row in claims(runs):
        rows.append(row)
        answer = "holds" if row.holds else "MISSED"
        print(f"{row.claim:4} {100 * row.rate:8.3f} % of {row.of:7}  {answer:6}  {row.what}; {row.case}", flush=True)
    if min(row.of for row in rows) >= FEWEST:
        write_rows(rows)
    return 0 if all(row.holds for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else RUNS))
