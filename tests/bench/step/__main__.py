"""The whole step, predicted and as SGLang's one-batch benchmark measures it: Qwen3-8B on one GPU, no weights needed:

python -m tests.bench.step measure FILE [--for SECONDS] [--only KIND,...] [OVERRIDE ...]   on a GPU with SGLang, what FILE does not hold;
                                                                            KIND rest, round, streamed (ours), turns, engine (SGLang's)
python -m tests.bench.step report [FILE ...]      the tables of FILEs, else of what is committed
python -m tests.bench.step keep FILE ...          FILEs, compressed, beside this one

`measure` may be broken off: a process that ended is kept, the next call goes on, and none begins that would bring nothing in time. A
process takes 30 to 110 s of an H200; after one of each of the first three kinds the page says what holds. Several GPUs of a kind may
measure at once, in a FILE each: what is compared with one another is of one process. Overrides as of `attnpin tune`; where SGLang is not
in this Python, engine.path says where.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.bench import row_file
from tests.bench.step.page import render
from tests.bench.step.rows import ROWS, read_rows


def main(arguments: list[str]) -> int:
    match arguments:
        case ["measure", file, *rest]:
            from tests.bench.step.measure import measure

            seconds, rest = _option("--for", rest)
            only, overrides = _option("--only", rest)
            measure(Path(file), float(seconds or "inf"), overrides, only.split(",") if only else ())
        case ["report", *files]:
            print(render(read_rows(*(map(Path, files) if files else (ROWS,)))))
        case ["keep", *files] if files:
            row_file.compress(read_rows(*map(Path, files)), ROWS)
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    return 0


def _option(name: str, rest: list[str]) -> tuple[str | None, list[str]]:
    return (rest[1], rest[2:]) if rest[:1] == [name] and len(rest) > 1 else (None, rest)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
