"""A place of this account's own: HOME and USER where it has none (no passwd entry, a home it may not write), and a scratch."""

from __future__ import annotations

import os
import pathlib
import stat
import tempfile

SCRATCH = "ATTNPIN_SCRATCH"  # names a folder that outlives the worker, such as a mounted volume


def scratch() -> pathlib.Path:
    """The folder in which this account's workers build and keep kernels, so that what one process compiled the next one finds.

    What the variable `SCRATCH` names, else in the cache of a usable home, else one a user beside other temporary files.
    Raises RuntimeError where what the variable names cannot be used.
    """
    if named := os.environ.get(SCRATCH):
        return _as_named(pathlib.Path(named).absolute())
    home = os.path.expanduser("~")
    own = pathlib.Path(home, ".cache", "attnpin")
    return own if usable(home) and writable(own) else _beside_temporary_files()


def ensure() -> None:
    """Give HOME and USER values that Triton, torch and FlashInfer can work with, unless they have."""
    if not usable(os.path.expanduser("~")):
        os.environ["HOME"] = str(scratch())
    if not _has_name():
        os.environ.setdefault("USER", f"uid{os.getuid()}")  # getpass.getuser() fails without it


def usable(folder: str) -> bool:
    return os.path.isabs(folder) and os.path.isdir(folder) and os.access(folder, os.W_OK | os.X_OK)


def writable(folder: pathlib.Path) -> bool:
    """Whether this account may write in ``folder``, or make it."""
    there = next((each for each in (folder, *folder.parents) if os.path.exists(each)), None)
    return there is not None and usable(str(there))


def _as_named(folder: pathlib.Path) -> pathlib.Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        reason = "" if usable(str(folder)) else "it may not be written"
    except OSError as error:
        reason = str(error.strerror)
    if reason:
        raise RuntimeError(f"{SCRATCH}={folder} cannot be used: {reason}; name a folder that may be written, or unset it")
    return folder


def _beside_temporary_files() -> pathlib.Path:
    folder = pathlib.Path(_for_libraries(), f"attnpin-home-{os.getuid()}")
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
        if stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid():
            return folder
    except OSError:
        pass
    return pathlib.Path(tempfile.mkdtemp(prefix="attnpin-home-"))  # the name is taken by somebody else


def _for_libraries() -> str:
    """The temporary folder, or another one where that is mounted noexec: what is compiled there could not be loaded."""
    usual = tempfile.gettempdir()
    others = (folder for folder in (usual, "/var/tmp") if usable(folder) and not _noexec(folder))
    return next(others, usual)


def _noexec(folder: str) -> bool:
    return bool(os.statvfs(folder).f_flag & os.ST_NOEXEC)


def _has_name() -> bool:
    import pwd

    try:
        pwd.getpwuid(os.getuid())
    except KeyError:
        return False
    return True
