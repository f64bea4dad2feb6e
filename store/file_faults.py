"""What the file system raises, in one sentence of ours."""

from __future__ import annotations

import errno

from store.errors import DiskFull, ReadOnly, StoreError, Unreachable

FILE_FAULTS: dict[int, tuple[type[StoreError], str]] = {
    errno.ENOSPC: (DiskFull, "has no room on its disk; free some and run the same command again"),
    errno.EDQUOT: (DiskFull, "exceeds the disk quota; free some and run the same command again"),
    errno.EROFS: (ReadOnly, "lies on a read-only file system; choose another path"),
    errno.EACCES: (ReadOnly, "cannot be written by this user; make its folder writable or choose another path"),
    errno.EPERM: (ReadOnly, "cannot be written by this user; make its folder writable or choose another path"),
}


def file_fault(path: str, error: OSError) -> StoreError:
    kind, text = FILE_FAULTS.get(error.errno or 0, (Unreachable, f"cannot be written ({error.strerror}); choose another path"))
    return kind(f"{path} {text}")
