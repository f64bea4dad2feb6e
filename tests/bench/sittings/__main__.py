"""How often a verdict is wrong on hardware:

python -m tests.bench.sittings measure KIND PROCESSES [OVERRIDE ...]   one sitting on this GPU; KIND is fa3, flashinfer or ranking
python -m tests.bench.sittings add DATABASE ...                        keeps the finished sittings of attnpin.db files
python -m tests.bench.sittings [page]                                  judges what is kept

`measure` takes some five minutes of an H200 with 9 PROCESSES, the most that are of use, and may be broken off: the same command goes on,
and once a sitting is over it begins another, which takes over what the probes of the first found. Overrides are those of `attnpin
calibrate`, among them store.url. `add` takes a sitting once, however often it is given. What is kept lies beside this file;
`tests.docs` makes docs/measuring.md of it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from reports.calibration import render_text
from tests.bench.sittings.measure import KINDS, measure
from tests.bench.sittings.page import render
from tests.bench.sittings.rows import added, read_rows, sittings_in, write_rows
from tuner.command_line.boundary import guarded


def main(arguments: list[str]) -> int:
    match arguments:
        case ["measure", kind, processes, *overrides] if kind in KINDS and processes.isdecimal():
            print(render_text(measure(KINDS[kind], int(processes), overrides)))
        case ["add", _, *_]:
            add(map(Path, arguments[1:]))
        case [] | ["page"]:
            print(render(read_rows()))
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    return 0


def add(databases: Iterable[Path]) -> None:
    known = read_rows()
    kept = added(known, (sitting for database in databases for sitting in sittings_in(database)))
    write_rows(kept)
    print(f"{len(kept) - len(known)} sittings added to {len(known)}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(guarded(lambda: main(sys.argv[1:]), debug=True))
