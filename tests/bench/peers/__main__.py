"""Ours against the timing tools of others, on the same kernels:

python -m tests.bench.peers measure FILE GROUP [--for SECONDS] [--only KIND,...] [OVERRIDE ...]   on a GPU, what FILE does not hold yet
                                                                                of small or large; KIND oracle, ours, plain, traced, nvbench
python -m tests.bench.peers report [FILE ...]                                   the tables of FILEs, else of what is committed
python -m tests.bench.peers keep FILE ...                                       FILEs, compressed, beside this one
python -m tests.bench.peers plot                                                docs/peers.svg of what is committed; needs matplotlib

`measure` may be broken off: a process that ended is kept, the next call goes on. The groups may be measured on two GPUs of one machine
at once, in a FILE each. Overrides as of `attnpin tune`.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.bench import row_file
from tests.bench.peers.cells import LARGE, SMALL
from tests.bench.peers.page import PICTURE as NAME
from tests.bench.peers.page import render
from tests.bench.peers.rows import ROWS, read_rows
from tests.bench.peers.score import results

PICTURE = Path(__file__).parents[3] / "docs" / NAME


def main(arguments: list[str]) -> int:
    match arguments:
        case ["measure", file, group, *rest] if group in (SMALL, LARGE):
            from tests.bench.peers.measure import measure

            seconds, rest = _option("--for", rest)
            only, overrides = _option("--only", rest)
            measure(Path(file), group, float(seconds or "inf"), overrides, only.split(",") if only else ())
        case ["report", *files]:
            print(render(read_rows(*(map(Path, files) if files else (ROWS,)))))
        case ["keep", *files] if files:
            row_file.compress(read_rows(*map(Path, files)), ROWS)
        case ["plot"]:
            from tests.bench.peers.plot import draw

            draw(results(read_rows(ROWS)), PICTURE)
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    return 0


def _option(name: str, rest: list[str]) -> tuple[str | None, list[str]]:
    return (rest[1], rest[2:]) if rest[:1] == [name] else (None, rest)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
