from __future__ import annotations

from pathlib import Path

from store.database.connect import open_store
from store.exchange.foreign_file import holds_foreign
from store.exchange.items import Item, Kind
from store.exchange.taken_runs import value_of
from store.exchange.taking import take
from tests.store.building import a_run


def test_a_file_tells_whether_anything_in_it_came_from_elsewhere(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    assert not holds_foreign(file) and not file.exists()
    store = open_store(f"sqlite:///{file}")
    assert not holds_foreign(file)
    take(store, Item(Kind.RUN, "r1", value_of(a_run())), trusted=False, origin={})
    assert holds_foreign(file)


def test_what_is_no_database_holds_nothing(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    file.write_text("something else\n" * 100)
    assert not holds_foreign(file) and not holds_foreign(tmp_path)
