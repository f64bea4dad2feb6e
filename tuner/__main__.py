from __future__ import annotations

import gc
import os
import signal
import sys

from tuner.command_line.termination import ENDING, Terminated, listen

RARELY = (100_000, 50, 100)  # objects that garbage is looked for after: a command ends soon, and looking took it a tenth of its time


def main() -> None:
    """Signals end it without a traceback, also while it is still importing; once the exit code is known there is nothing to end."""
    gc.set_threshold(*RARELY)
    open_closed_streams()
    try:
        listen()
        from tuner.cli import run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        code = 128 + signal.SIGINT
    except Terminated as terminated:
        code = terminated.exit_code
    for number in (signal.SIGINT, *ENDING):
        signal.signal(number, signal.SIG_IGN)
    gc.freeze()  # what is left goes with the process, and need not be looked through
    sys.exit(code)


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
