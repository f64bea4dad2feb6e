from __future__ import annotations

import builtins
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from backends.imports import ImportClock

MODULES = {
    "takes_five": "import watch; watch.now += 5",
    "takes_seven": "import watch; watch.now += 7",
    "takes_eight": "import takes_seven, watch; watch.now += 1",
    "broken": "import watch; watch.now += 2; raise ImportError('no such kernel')",
}


@pytest.fixture
def watch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SimpleNamespace]:
    """A clock that only the import of `MODULES` moves."""
    made = SimpleNamespace(now=0.0)
    monkeypatch.setitem(sys.modules, "watch", made)  # type: ignore[arg-type]
    monkeypatch.syspath_prepend(str(tmp_path))
    for name, code in MODULES.items():
        (tmp_path / f"{name}.py").write_text(code)
    yield made
    for name in MODULES:
        sys.modules.pop(name, None)


def test_imports_count_by_statement_and_by_function_and_nothing_else_does(watch: SimpleNamespace) -> None:
    with ImportClock(lambda: float(watch.now)) as clock:
        exec("import takes_five")
        watch.now += 100
        importlib.import_module("takes_seven")
    assert clock.seconds == 12


def test_an_import_within_an_import_counts_once(watch: SimpleNamespace) -> None:
    with ImportClock(lambda: float(watch.now)) as clock:
        importlib.import_module("takes_eight")
    assert clock.seconds == 8


def test_an_import_that_fails_fails_as_before_and_the_clock_goes_on(watch: SimpleNamespace) -> None:
    with ImportClock(lambda: float(watch.now)) as clock:
        with pytest.raises(ImportError, match="no such kernel"):
            importlib.import_module("broken")
        importlib.import_module("takes_five")
    assert clock.seconds == 7


def test_after_the_clock_is_closed_importing_is_pythons_own_again() -> None:
    before = builtins.__import__, importlib.import_module
    with ImportClock():
        assert builtins.__import__ is not before[0] and importlib.import_module is not before[1]
    assert (builtins.__import__, importlib.import_module) == before
