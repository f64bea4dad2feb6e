"""One run at a time on one GPU of one machine, or in one folder: advisory locks."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import pathlib
import re
import stat
import tempfile
import time
from collections.abc import Callable, Iterator

POLL_S = 0.2
SAY_S = 2.0

_held: list[int] = []  # descriptors stay open, and locks held, until this process ends


def take(key: str, owner: str, waiting: Callable[[str], None], folder: pathlib.Path | None = None) -> str | None:
    """Hold the lock of GPU ``key`` until this process ends; ``waiting(owner)`` is called every 2 s while another holds it.

    The kernel drops it with the process, so a file left behind is harmless. It binds the users of one temporary folder
    (two containers have two). Returns None, or the sentence why there is no lock.
    """
    path = _path(key, folder)
    try:
        _held.append(_locked(path, owner, waiting))
    except OSError as error:
        return f"no lock on this GPU: {path.name} cannot be opened ({error.strerror}), so two runs at once would disturb each other"
    return None


@contextlib.contextmanager
def held(key: str, owner: str, waiting: Callable[[str], None], folder: pathlib.Path | None = None) -> Iterator[None]:
    """As `take`, while inside. Raises OSError."""
    descriptor = _locked(_path(key, folder), owner, waiting)
    try:
        yield
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def passing(key: str, owner: str, waiting: Callable[[str], None], folder: pathlib.Path | None = None) -> Iterator[None]:
    """As `held`, of a ``key`` that hardly comes again: the file goes with the lock. Raises OSError."""
    path = _path(key, folder)
    descriptor = _locked(path, owner, waiting)
    while not _is_there(descriptor, path):  # who had it before us took the file away as we waited at it
        os.close(descriptor)
        descriptor = _locked(path, owner, waiting)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(descriptor)


def _is_there(descriptor: int, path: pathlib.Path) -> bool:
    with contextlib.suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(descriptor), path.stat())
    return False


def _path(key: str, folder: pathlib.Path | None) -> pathlib.Path:
    return (folder or _shared_folder()) / f"attnpin-{re.sub(r'[^A-Za-z0-9.-]+', '-', key)}.lock"


@contextlib.contextmanager
def alone(folder: pathlib.Path, owner: str, waiting: Callable[[str], None]) -> Iterator[None]:
    """In ``folder``, while inside; who else is there is waited for as in `take`. Raises OSError."""
    descriptor = _locked(folder / "attnpin.lock", owner, waiting)
    try:
        yield
    finally:
        os.close(descriptor)


def _locked(path: pathlib.Path, owner: str, waiting: Callable[[str], None]) -> int:
    """The descriptor that holds it. Raises OSError."""
    descriptor = _regular(_open_shared(path))
    try:
        _wait(descriptor, waiting)
    except BaseException:
        os.close(descriptor)
        raise
    with contextlib.suppress(OSError):  # a full disk takes the owner's name, not the lock
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, json.dumps({"owner": owner, "pid": os.getpid()}).encode(), 0)
    return descriptor


def _shared_folder() -> pathlib.Path:
    """/tmp before TMPDIR: the lock is for all users of the machine."""
    common = pathlib.Path("/tmp")
    return common if os.access(common, os.W_OK) else pathlib.Path(tempfile.gettempdir())


def _open_shared(path: pathlib.Path) -> int:
    """Without O_CREAT first: in a sticky folder the kernel refuses O_CREAT on a file of another user (fs.protected_regular)."""
    try:
        return os.open(path, os.O_RDWR | os.O_NOFOLLOW)
    except FileNotFoundError:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
    with contextlib.suppress(PermissionError):  # another user created it in between, and opened it for us
        os.fchmod(descriptor, 0o666)  # whatever the umask: others must be able to wait
    return descriptor


def _regular(descriptor: int) -> int:
    """A named pipe takes a lock and no text: whoever put it there, it is not ours."""
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is no regular file")
    return descriptor


def _wait(descriptor: int, waiting: Callable[[str], None]) -> None:
    say_at = time.monotonic()
    while not _try(descriptor):
        if time.monotonic() >= say_at:
            waiting(_owner(descriptor))
            say_at = time.monotonic() + SAY_S
        time.sleep(POLL_S)


def _try(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _owner(descriptor: int) -> str:
    try:
        return str(json.loads(os.pread(descriptor, 4096, 0))["owner"])
    except (ValueError, KeyError, TypeError):  # not written yet, or not ours
        return "another run"
