"""A place for the libraries' caches where the account has none: no HOME, no passwd entry, or a home it may not write."""

from __future__ import annotations

import os
import pathlib
import stat
import tempfile


def ensure() -> None:
    """Give HOME and USER values that Triton, torch and FlashInfer can work with, unless they have.

    The substitute is one folder a user, so that what one process compiled the next one finds.
    """
    if not _writable_home():
        os.environ["HOME"] = _substitute()
    if not _has_name():
        os.environ.setdefault("USER", f"uid{os.getuid()}")  # getpass.getuser() fails without it


def _writable_home() -> bool:
    folder = os.path.expanduser("~")
    return os.path.isabs(folder) and os.path.isdir(folder) and os.access(folder, os.W_OK | os.X_OK)


def _substitute() -> str:
    folder = pathlib.Path(tempfile.gettempdir(), f"attnpin-home-{os.getuid()}")
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
        if stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid():
            return str(folder)
    except OSError:
        pass
    return tempfile.mkdtemp(prefix="attnpin-home-")  # the name is taken by somebody else


def _has_name() -> bool:
    import pwd

    try:
        pwd.getpwuid(os.getuid())
    except KeyError:
        return False
    return True
