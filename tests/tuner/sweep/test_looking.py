from __future__ import annotations

import pytest

from tuner.errors import AttnpinError
from tuner.settings import Settings, compose
from tuner.sweep import looking


def test_many_are_looked_at_in_processes_of_their_own_and_come_to_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    wishes = [("gpu=h200", "traffic=rag"), ("gpu=h200", "model=nosuch"), ("gpu=h200", "traffic=chat")]
    monkeypatch.setattr(looking, "FEW", 0)
    first, wrong, last = looking.looked_at(wishes, None)
    for found, wish in ((first, wishes[0]), (last, wishes[2])):
        assert isinstance(found, Settings) and found.scenario == compose(wish).scenario
    assert isinstance(wrong, AttnpinError) and "nosuch" in str(wrong)
