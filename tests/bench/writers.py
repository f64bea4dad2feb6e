"""Eight processes that store a thousand rounds each at once, in SQLite and in PostgreSQL: python -m tests.bench.writers [WRITERS [ROUNDS]]

Afterwards every round must be there once, as it was.
"""

from __future__ import annotations

import sys
import tempfile
import time

from store.database.connect import open_store
from tests.store.server import Unavailable, running
from tests.store.writers import FORK, check_written, wait_for, write_rounds


def main(writers: int = 8, rounds: int = 1000) -> None:
    print(f"{writers} writers of {rounds} rounds each")
    with tempfile.TemporaryDirectory() as folder:
        timed("SQLite", f"sqlite:///{folder}/a.db", writers, rounds)
    try:
        with running(fsync=True) as server:
            timed("PostgreSQL", server.url(), writers, rounds)
    except Unavailable as reason:
        print(f"PostgreSQL  not measured: {reason}")


def timed(kind: str, url: str, writers: int, rounds: int) -> None:
    store, names = open_store(url), [f"writer-{i}" for i in range(writers)]
    began = time.perf_counter()
    wait_for([FORK.Process(target=write_rounds, args=(url, name, rounds)) for name in names])
    seconds = time.perf_counter() - began
    for name in names:
        check_written(store, name, rounds)
    print(f"{kind:<11} {seconds:7.1f} s  {writers * rounds / seconds:7.0f} rounds a second; each there once", flush=True)


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:]))
