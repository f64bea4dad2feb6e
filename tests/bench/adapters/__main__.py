"""Whether kernel adapters and the engine's own objects take the same time, and what pools and tables change:

python -m tests.bench.adapters measure FILE PROCESSES [OVERRIDE ...]   measures, on a GPU, what FILE does not hold yet
python -m tests.bench.adapters keep FILE                               lays FILE beside this one, for docs/adapters.md
python -m tests.bench.adapters report [FILE]                           the tables of FILE, else of what is committed

`measure` takes some 25 s a process and group on an H200 once FlashInfer's modules are built, and may be broken off; overrides as of
`attnpin tune`.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.bench.adapters.measure import measure
from tests.bench.adapters.page import ROWS, render
from tests.bench.layouts.rows import read_rows, write_rows


def main(arguments: list[str]) -> int:
    match arguments:
        case ["measure", file, processes, *overrides] if processes.isdecimal():
            measure(Path(file), int(processes), overrides)
        case ["keep", file]:
            write_rows(read_rows(Path(file)), ROWS)
        case ["report"]:
            print(render(read_rows(ROWS)))
        case ["report", file]:
            print(render(read_rows(Path(file))))
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
