"""How much hangs on where a request's KV lies:

python -m tests.bench.layouts measure FILE PROCESSES [OVERRIDE ...]   measures, on a GPU, what FILE does not hold yet
python -m tests.bench.layouts report [FILE]                           the tables of FILE, else of what is committed

`measure` takes some 75 s a process on an H200 for both geometries and may be broken off; overrides as of `attnpin tune`. Its file,
laid beside this one as rows.jsonl.zst, is what `tests.docs` makes docs/layouts.md of.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.bench.layouts.measure import measure
from tests.bench.layouts.page import render
from tests.bench.layouts.rows import read_rows


def main(arguments: list[str]) -> int:
    match arguments:
        case ["measure", file, processes, *overrides] if processes.isdecimal():
            measure(Path(file), int(processes), overrides)
        case ["report"]:
            print(render(read_rows()))
        case ["report", file]:
            print(render(read_rows(Path(file))))
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
