"""What foreign runs say of a scenario: for whoever plans it. Nothing is decided by them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from store.exchange.foreign_file import holds_foreign

if TYPE_CHECKING:
    from store.database.connect import Store
    from store.scenario import Scenario

SQLITE = "sqlite:///"
MOST = 3


def measured_elsewhere(scenario: Scenario, url: str) -> tuple[str, ...]:
    """A sentence for each of the newest decided foreign runs of this model, traffic and GPU; none where there is no store to ask."""
    if url.startswith(SQLITE) and not holds_foreign(Path(url.removeprefix(SQLITE)).expanduser()):
        return ()  # most plans
    from store.database.connect import open_store
    from store.errors import StoreError

    try:
        return tuple(_sentences(open_store(url), scenario))
    except StoreError:
        return ()


def _sentences(store: Store, scenario: Scenario) -> Iterator[str]:
    from reports import headline, wording
    from store.past.history import foreign_runs
    from store.runs.repository import load_run

    for each in foreign_runs(store, scenario.model.name, scenario.traffic.name, scenario.gpu.name, MOST):
        run = load_run(store, each.id)
        if run.decision is not None:
            engine = f"{wording.engine(each.engine)} {each.engine_version or ''}".strip()
            yield f"measured elsewhere, which nothing here vouches for (run {each.id}, {engine}): {headline.decided(run, run.decision)}"
