"""Optuna's studies, in its own tables beside ours: several that begin at once, a server that is restarted, a role that may not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Barrier, Thread

import pytest
from optuna import Study
from optuna.pruners import NopPruner
from optuna.samplers import RandomSampler

from store.database import outlasting
from store.database.connect import Store, open_store
from store.errors import ReadOnly, ServerGone
from store.runs.studies import studies_of
from tests.store.server import Server

AT_ONCE = 6


@contextmanager
def a_study(store: Store, name: str = "a") -> Iterator[Study]:
    with studies_of(store) as studies:
        yield studies.open(name, False, RandomSampler(seed=0), NopPruner())


def told(study: Study, value: float) -> None:
    study.tell(study.ask(), value)


def values(study: Study) -> list[float]:
    return [trial.value for trial in study.trials if trial.value is not None]


@pytest.mark.filterwarnings("ignore")  # threads share what is caught of them
def test_several_searches_may_be_the_first_ones_of_a_store(url: str) -> None:
    open_store(url)
    together, ended = Barrier(AT_ONCE), list[str]()

    def search(name: str) -> None:
        store = open_store(url)
        together.wait()
        with a_study(store, name) as study:
            told(study, 1.0)
        ended.append(name)

    threads = [Thread(target=search, args=(f"search {number}",)) for number in range(AT_ONCE)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(ended) == [f"search {number}" for number in range(AT_ONCE)]


def test_a_folder_may_have_any_name(tmp_path: Path) -> None:
    with a_study(open_store(f"sqlite:///{tmp_path}/{{SCHEMA}} 50% {{}}/a.db")) as study:
        told(study, 1.0)
        assert values(study) == [1.0]


def test_a_server_that_is_restarted_between_two_repetitions_costs_a_search_nothing(server: Server, server_url: str) -> None:
    with a_study(open_store(server_url)) as study:
        told(study, 1.0)
        server.stop()
        telling = Thread(target=told, args=(study, 2.0))
        telling.start()
        server.start()
        telling.join()
        assert values(study) == [1.0, 2.0]


def test_a_server_that_stays_away_ends_a_search_that_goes_on_later(
    server: Server, server_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outlasting, "PATIENCE_S", 0.3)
    store = open_store(server_url)
    with pytest.raises(ServerGone, match="cannot be used any more"), a_study(store) as study:
        told(study, 1.0)
        server.stop()
        try:
            told(study, 2.0)
        finally:
            server.start()
    with a_study(store) as study:
        assert values(study) == [1.0]


def test_a_role_that_may_not_make_optuna_s_tables_is_told_so_and_one_of_the_owner_s_making_uses_them(
    server: Server, server_url: str
) -> None:
    owner, database = open_store(server_url), server_url.partition("@/")[2].partition("?")[0]
    server.execute(
        f"CREATE ROLE searcher_{database} LOGIN",
        f"ALTER DEFAULT PRIVILEGES GRANT SELECT, INSERT, UPDATE ON TABLES TO searcher_{database}",
        f"ALTER DEFAULT PRIVILEGES GRANT USAGE ON SEQUENCES TO searcher_{database}",
        f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO searcher_{database}",
        database=database,
    )
    writer = open_store(server.url(database, f"searcher_{database}"))
    with pytest.raises(ReadOnly, match="by this role; docs/a-shared-database.md says what a role needs"), studies_of(writer):
        pass
    with studies_of(owner):
        pass
    with a_study(writer) as study:
        told(study, 1.0)
        assert values(study) == [1.0]
