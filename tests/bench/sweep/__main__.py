"""What many scenarios were foretold to cost, and what they took: a thousand of a simulated GPU through a Ray cluster of this machine.

python -m tests.bench.sweep measure FOLDER [SCENARIOS [BOARDS]]   1,000 and 3 by default; goes on where it was broken off, FOLDER is its own
python -m tests.bench.sweep keep FOLDER                           keeps what came of it, also of a part of the scenarios
python -m tests.bench.sweep [page]                                prints what is kept

Needs the package ray (the extra ray). Some 2 s of one core a scenario: a simulated GPU takes no time, starting processes does. A job
waits for its processes a fifth of its time, so three boards keep two cores busy.
What is kept lies beside this file; `tests.docs` makes docs/cost-of-scale.md of it.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.bench.sweep.came import came_of
from tests.bench.sweep.measure import measure
from tests.bench.sweep.page import render
from tests.bench.sweep.rows import read_rows, write_row
from tuner.command_line.boundary import guarded


def main(arguments: list[str]) -> int:
    match arguments:
        case ["measure", folder, *numbers] if len(numbers) <= 2 and all(number.isdecimal() for number in numbers):
            code = measure(Path(folder), *map(int, numbers))
            print(render((came_of(Path(folder)),)))
            return code
        case ["keep", folder]:
            write_row(came_of(Path(folder)))
        case [] | ["page"]:
            print(render(read_rows()))
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(guarded(lambda: main(sys.argv[1:]), debug=True))
