"""Optuna's studies in the database of the runs: its own tables beside ours, which know nothing of one another.

A study belongs to one run, whose id it is given once that is begun; one without a run was interrupted, and goes on.
"""

from __future__ import annotations

import logging
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from sqlalchemy import Engine, event

from store.database.connect import Store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from optuna import Study
    from optuna.pruners import BasePruner
    from optuna.samplers import BaseSampler

RUN = "attnpin run"


@contextmanager
def studies_of(store: Store) -> Iterator[Studies]:
    import optuna

    optuna.logging.set_verbosity(logging.WARNING)
    url = store.engine.url.render_as_string(hide_password=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        storage = optuna.storages.RDBStorage(url)
        if store.engine.dialect.name == "sqlite":
            _without_waiting_for_the_disk(storage.engine)
        try:
            yield Studies(storage)
        finally:
            storage.remove_session()
            storage.engine.dispose()


def _without_waiting_for_the_disk(engine: Engine) -> None:
    """Each repetition is a transaction or two: one that a power failure takes is measured again."""
    engine.dispose()

    @event.listens_for(engine, "connect")
    def configure(connection: Any, _record: Any) -> None:
        connection.execute("PRAGMA synchronous = NORMAL")


class Studies:
    """Of one store, while it is open."""

    def __init__(self, storage: Any) -> None:
        self._storage = storage

    def open(self, name: str, fresh: bool, sampler: BaseSampler, pruner: BasePruner) -> Study:
        """The newest of ``name`` that no run was begun with, else (or when ``fresh``) a new one."""
        import optuna

        names = [each for each in optuna.get_all_study_names(self._storage) if each.rpartition("/")[0] == name]
        newest = max(names, key=lambda each: int(each.rpartition("/")[2]), default=None)
        if newest is not None and not fresh:
            study = optuna.load_study(study_name=newest, storage=self._storage, sampler=sampler, pruner=pruner)
            if RUN not in study.user_attrs:
                return study
        return optuna.create_study(storage=self._storage, study_name=f"{name}/{len(names) + 1}", sampler=sampler, pruner=pruner)


def belongs_to(study: Study, run_id: str) -> None:
    study.set_user_attr(RUN, run_id)
