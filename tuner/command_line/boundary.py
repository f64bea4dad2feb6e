"""Where a command ends: every way it can fail becomes one sentence on stderr and an exit code."""

from __future__ import annotations

import errno
import os
import sys
import traceback
from collections.abc import Callable

from typer import Abort, TyperException

from tuner.command_line.termination import Terminated
from tuner.errors import INTERNAL_FAULT, INTERRUPTED, OK, PIPE_CLOSED, MeasurementInvalid, UsageError

DISK_FULL = {errno.ENOSPC, errno.EDQUOT}
GO_ON = "what was stored is kept, run the same command again to go on."
NOT_WRITABLE = {errno.EROFS, errno.EACCES, errno.EPERM}


def guarded(command: Callable[[], int | None], debug: bool) -> int:
    """Runs ``command``; its exit code, or the one of what it raised. ``debug`` adds the traceback."""
    try:
        code = command()
        sys.stdout.flush()
        return OK if code is None else code
    except (KeyboardInterrupt, Abort):
        say(f"Interrupted; {GO_ON}")
        return INTERRUPTED
    except Terminated as terminated:
        say(f"Interrupted by {terminated}; {GO_ON}")
        return terminated.exit_code
    except SystemExit as exit:  # of Hydra after --help; of Typer on a closed pipe
        return report(exit.__context__, debug) if isinstance(exit.__context__, BrokenPipeError) else int(exit.code or OK)
    except Exception as error:
        return report(error, debug)


def report(error: Exception, debug: bool) -> int:
    """Says what went wrong and returns its exit code; a closed pipe says nothing."""
    if isinstance(error, BrokenPipeError):
        _silence_stdout()
        return PIPE_CLOSED
    if debug:
        traceback.print_exception(error)
    say(sentence(error))
    return exit_code(error)


def exit_code(error: Exception) -> int:
    """Errors of every room that are the user's to mend carry their own code; the rest is a fault of ours."""
    if isinstance(error, OSError):
        return _os_exit_code(error)
    code = getattr(error, "exit_code", INTERNAL_FAULT)
    return UsageError.exit_code if isinstance(error, TyperException) else int(code)


def sentence(error: Exception) -> str:
    if isinstance(error, TyperException):
        return f"{error.format_message().rstrip()} (see `{_command_of(error)} --help`)"
    if isinstance(error, OSError) and _os_exit_code(error) != INTERNAL_FAULT:
        if isinstance(error, FileNotFoundError) and error.filename is None:  # of `os.getcwd`: every other file is named
            return "the folder that this was started in is gone; change to one that is there and run the same command again"
        return f"{error.filename or 'the output, or a file'}: {error.strerror or error}; {_remedy(error)}"
    if exit_code(error) == INTERNAL_FAULT:
        return f"A fault in attnpin ({type(error).__name__}: {error}); rerun with --debug for the traceback and report it."
    return str(error)


def _command_of(error: TyperException) -> str:
    """The words up to the command that was typed, as far as the error knows it."""
    context = getattr(error, "ctx", None)
    return context.command_path if context else "attnpin"


def say(text: str) -> None:
    print(f"attnpin: {text}", file=sys.stderr)


def _os_exit_code(error: OSError) -> int:
    if error.errno in DISK_FULL:
        return MeasurementInvalid.exit_code
    if error.errno in NOT_WRITABLE or isinstance(error, (FileNotFoundError, NotADirectoryError, IsADirectoryError)):
        return UsageError.exit_code
    return INTERNAL_FAULT


def _remedy(error: OSError) -> str:
    if error.errno in DISK_FULL:
        return "free some space and run the same command again, nothing stored is lost"
    return "give a path that exists and may be written" if error.errno in NOT_WRITABLE else "check the path"


def _silence_stdout() -> None:
    """Python flushes stdout once more at exit; into a closed pipe that would print a second error."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
