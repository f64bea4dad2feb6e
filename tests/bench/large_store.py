"""How long the commands that ask the store take when it is large: python -m tests.bench.large_store [RUNS]

100,000 runs of 100 trials each by default, in SQLite and in PostgreSQL: copies of one made-up run, written by the database itself. Every
200th, those of one model and traffic, has its rounds too. 4 GB of disk at a time; ten minutes. Each command is to take less than 2 s.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from sqlalchemy import Connection, text

from backends.arm import Arm
from store.database.connect import Store, open_store, writer, writing
from store.runs.run import FINISHED, Run
from store.runs.run_in_session import insert_run
from store.tables.base import Base
from store.tables.measured import CellRoundRow, RoundRow, TrialRow, VisitRow
from store.tables.runs import ArmRow, CellRow, DecisionRow, DistributionRow, ExclusionRow, RunRow, WallSecondsRow
from tests.store.building import BACKENDS, a_decision, a_round, a_run, all_trials, arm, weighted
from tests.store.server import Unavailable, running

ROOT = Path(__file__).parents[2]
LIMIT_S = 2.0
ARMS, CELLS, ROUNDS, BATCH = 10, 10, 4, 8
CHUNK = 1000  # runs a transaction
MODELS, TRAFFICS = 20, 10
RACED = MODELS * TRAFFICS  # every so many runs one with rounds: all of one model and traffic
SIMULATED = ("gpu=simulated", "model=qwen3_8b", "backend=[fa3,flashinfer,triton]")


@dataclass(frozen=True)
class Copied:
    """A table whose rows of the first run are copied: columns that point to another copied table, and to which; whether every run has
    such rows."""

    table: type[Base]
    to: dict[str, type[Base]]
    every: bool = True


OF_A_RUN = {"run_key": RunRow}
TABLES = (
    Copied(RunRow, {}),
    *(Copied(table, OF_A_RUN) for table in (ArmRow, CellRow, ExclusionRow, DistributionRow, DecisionRow, WallSecondsRow)),
    Copied(TrialRow, {**OF_A_RUN, "arm_key": ArmRow, "cell_key": CellRow}),
    Copied(RoundRow, OF_A_RUN, every=False),
    Copied(CellRoundRow, {"round_key": RoundRow, "cell_key": CellRow}, every=False),
    Copied(VisitRow, {"cell_round_key": CellRoundRow, "arm_key": ArmRow}, every=False),
)
# Beside keys, what sets a copy apart.
OF_ITS_OWN = {
    "id": "'run-' || n.i",
    "created": "'2026-' || (10 + n.i / 665000 % 3) || '-' || (10 + n.i / 35000 % 19) || 'T' || (10 + n.i / 2500 % 14)"
    " || ':' || (10 + n.i / 50 % 50) || ':' || (10 + n.i % 50) || 'Z'",
    "digest": f"'digest-' || (n.i % {RACED})",
    "model": f"'model-' || (n.i % {MODELS})",
    "traffic": f"'traffic-' || (n.i / {MODELS} % {TRAFFICS})",
}


def main(runs: int = 100_000) -> None:
    print(f"{runs} runs, {runs * ARMS * CELLS} trials; each command is to take less than {LIMIT_S:g} s")
    with tempfile.TemporaryDirectory(prefix="attnpin-") as folder:
        timed("SQLite", f"sqlite:///{folder}/a.db", runs, lambda store: None)
    try:
        with running() as server:
            timed("PostgreSQL", server.url(), runs, lambda store: server.execute("ANALYZE"))
    except Unavailable as reason:
        print(f"PostgreSQL  not measured: {reason}")


def timed(kind: str, url: str, runs: int, filled: Callable[[Store], None]) -> None:
    store, began = open_store(url), time.perf_counter()
    fill(store, runs)
    filled(store)
    print(f"{kind}: filled in {time.perf_counter() - began:.0f} s", flush=True)
    with tempfile.TemporaryDirectory(prefix="attnpin-") as folder:
        for name, words in commands(url):
            wall_s, own_s = run(words, Path(folder))
            late = "  TOO LONG" if wall_s > LIMIT_S and name != "tune" else ""
            print(f"{kind:<11} {name:<28} {wall_s:6.2f} s, {own_s:5.2f} s of processor{late}", flush=True)


def commands(url: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    store = f"store.url='{url}'"
    yield "report", ("report", store)
    yield "report --run", ("report", "--run", "run-0", store)
    yield "history", ("history", store)
    yield "history --cell --arm", ("history", "--cell", "decode_0", "--arm", a_large_run().arms[0].name, store)
    yield "plan", ("plan", store, *SIMULATED)
    yield "tune", ("tune", store, *SIMULATED, "pin.path=pin.yaml")
    yield "check --fast", ("check", "--pin", "pin.yaml", "--fast", store, *SIMULATED)


def run(words: tuple[str, ...], folder: Path) -> tuple[float, float]:
    """Wall and processor seconds (the client's); it must end as a question that has its answer does."""
    command = [sys.executable, "-P", "-m", "tuner", *words]
    began, before = time.perf_counter(), _processor_s()
    done = subprocess.run(command, cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True)
    if done.returncode not in (0, 1, 3):
        raise SystemExit(f"attnpin {' '.join(words)} ended with {done.returncode}: {done.stderr}")
    return time.perf_counter() - began, _processor_s() - before


def _processor_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def fill(store: Store, runs: int) -> None:
    with writing(store) as session:
        insert_run(session, a_large_run())
    counts = {}
    for start in range(1, runs, CHUNK):
        with writer(store.engine).begin() as connection:
            unchecked(connection)
            counts = counts or {each.table: _count(connection, each.table) for each in TABLES}
            for each in TABLES:
                connection.execute(text(copying(each, counts)), {"start": start, "end": min(start + CHUNK, runs)})
    with writer(store.engine).begin() as connection:
        counted_on(connection)


def a_large_run() -> Run:
    arms: tuple[Arm, ...] = tuple(replace(arm(BACKENDS[i % len(BACKENDS)]), page_size=1 if i < len(BACKENDS) else 64) for i in range(ARMS))
    run = replace(a_run("run-0"), arms=arms, cells=tuple(weighted(i, BATCH) for i in range(CELLS)), status=FINISHED)
    rounds = tuple(a_round(run, index) for index in range(ROUNDS))
    return replace(run, trials=all_trials(run), rounds=rounds, decision=a_decision(run))


def copying(copied: Copied, counts: dict[type[Base], int]) -> str:
    """SQL that copies the rows of the first run for runs :start to :end (exclusive); keys go on counting."""
    table = copied.table.__table__

    def value(name: str) -> str:
        if name == "key" or name in copied.to:
            return f"a.{name} + {counts[copied.to.get(name, copied.table)]} * n.i"
        return OF_ITS_OWN.get(name, f"a.{name}") if copied.table is RunRow else f"a.{name}"

    names = [column.name for column in table.columns]
    wanted = "" if copied.every else f" AND (n.i + 1) % {RACED} = 0"
    return (
        f"WITH RECURSIVE n(i) AS (SELECT CAST(:start AS integer) UNION ALL SELECT i + 1 FROM n WHERE i + 1 < :end) "
        f"INSERT INTO {table.name} ({', '.join(names)}) SELECT {', '.join(map(value, names))} "
        f"FROM n, (SELECT * FROM {table.name} WHERE key <= {counts[copied.table]}) a WHERE n.i < :end{wanted} ORDER BY n.i, a.key"
    )


def _count(connection: Connection, table: type[Base]) -> int:
    return int(connection.execute(text(f"SELECT count(*) FROM {table.__table__.name}")).scalar_one())


def unchecked(connection: Connection) -> None:
    """PostgreSQL would look up each foreign key, three a trial."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SET LOCAL session_replication_role = replica"))


def counted_on(connection: Connection) -> None:
    """PostgreSQL's counters behind the keys that were given."""
    if connection.dialect.name == "postgresql":
        for each in TABLES:
            name = each.table.__table__.name
            connection.execute(text(f"SELECT setval(pg_get_serial_sequence('{name}', 'key'), (SELECT max(key) FROM {name}))"))


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:]))
