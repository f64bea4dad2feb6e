"""What `attnpin compare` says where the truth is known, and where a long oracle tells it:

python -m tests.bench.upgrades same TIMES [OVERRIDE ...]             an environment with itself, so many times: is to be exit 0
python -m tests.bench.upgrades slowed TIMES [OVERRIDE ...]           with itself slowed by 5 %, so many times: is to be exit 1
python -m tests.bench.upgrades contest KIND OLD NEW [OVERRIDE ...]   a real upgrade by the rule of `gate`; KIND is flashinfer, triton,
                                                                     sglang-kernel or flash-attn-4, OLD and NEW are environments
python -m tests.bench.upgrades oracle KIND OLD NEW [OVERRIDE ...]    the same in many more pairs of processes
python -m tests.bench.upgrades add DATABASE ...                      keeps the finished comparisons of attnpin.db files
python -m tests.bench.upgrades [page]                                judges what is kept
python -m tests.bench.upgrades plot                                  docs/upgrades.svg of what is kept; needs matplotlib

On a GPU: some 25 s a pair of processes. All may be broken off; the same command goes on. OVERRIDEs and environments are those of
`attnpin compare`. What is kept lies beside this file; `tests.docs` makes docs/upgrades.md of it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from tests.bench.upgrades.measure import CANDIDATES, KINDS, contest, oracle, repeated
from tests.bench.upgrades.page import line, render
from tests.bench.upgrades.plot import PICTURE, plotted
from tests.bench.upgrades.rows import added, comparisons_in, read_rows, write_rows
from tuner.command_line.boundary import guarded


def main(arguments: list[str]) -> int:
    match arguments:
        case [which, times, *overrides] if which in CANDIDATES and times.isdecimal():
            for measured in repeated(CANDIDATES[which], int(times), overrides):
                print(line(measured), flush=True)
        case ["contest", kind, old, new, *overrides] if kind in KINDS:
            print(line(contest(kind, (old, new), overrides)))
        case ["oracle", kind, old, new, *overrides] if kind in KINDS:
            print(line(oracle(kind, (old, new), overrides)))
        case ["add", _, *_]:
            add(map(Path, arguments[1:]))
        case ["plot"]:
            PICTURE.write_bytes(plotted(read_rows()))
        case [] | ["page"]:
            print(render(read_rows()))
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    return 0


def add(databases: Iterable[Path]) -> None:
    known = read_rows()
    kept = added(known, (measured for database in databases for measured in comparisons_in(database)))
    write_rows(kept)
    print(f"{len(kept) - len(known)} comparisons added to {len(known)}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(guarded(lambda: main(sys.argv[1:]), debug=True))
