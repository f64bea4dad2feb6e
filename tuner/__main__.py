from __future__ import annotations

import os
import sys


def main() -> None:
    open_closed_streams()
    from tuner.cli import run

    sys.exit(run(sys.argv[1:]))


def open_closed_streams() -> None:
    """A standard stream that the caller closed (`attnpin check >&-`) is the null device: a file opened later, such as the database,
    would get its number and what is printed."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # the lowest number that is free
    sys.stdin = sys.stdin or os.fdopen(0)
    sys.stdout = sys.stdout or os.fdopen(1, "w")
    sys.stderr = sys.stderr or os.fdopen(2, "w")


if __name__ == "__main__":
    main()
