from __future__ import annotations

from pathlib import Path

import pytest

from store.connect import Store, open_store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(f"sqlite:///{tmp_path}/attnpin.sqlite")
