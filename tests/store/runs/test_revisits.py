from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from store.database.connect import Store
from store.errors import AlreadyStored, RunClosed
from store.evidence.run_evidence import evidence_bytes, read_evidence, reduced
from store.revisit import Condition, Revisit
from store.runs.repository import add_revisit, begin_run, load_run, save_decision
from store.runs.run import FINISHED, Run
from tests.store.building import a_round, a_run


def revisit(run: Run, index: int = 0) -> Revisit:
    sandwich, shuffled = a_round(run, index).cells
    return Revisit(index, 7, "decode_0", 1 << 28, ((Condition.SANDWICH, sandwich), (Condition.RANDOM_PAGES, shuffled)))


def test_revisits_come_back_in_order_and_once(store: Store) -> None:
    run = begin_run(store, a_run(), fresh=False)
    first, second = revisit(run), Revisit(1, 8, "decode_0", 1 << 28, failed="fa3/p1: out of memory: none left")
    for each in (first, second, first):
        add_revisit(store, run.id, each)
    assert load_run(store, run.id).revisits == (first, second)


def test_another_in_its_place_is_refused(store: Store) -> None:
    run = begin_run(store, a_run(), fresh=False)
    add_revisit(store, run.id, revisit(run))
    with pytest.raises(AlreadyStored, match="revisit 0 of run r1 was stored by another process"):
        add_revisit(store, run.id, replace(revisit(run), seed=8))


def test_none_is_added_to_a_run_that_has_ended(store: Store) -> None:
    run = begin_run(store, a_run(), fresh=False)
    save_decision(store, run.id, None, FINISHED)
    with pytest.raises(RunClosed):
        add_revisit(store, run.id, revisit(run))


def test_a_run_stored_whole_keeps_them_and_its_evidence_has_the_median_of_each_visit(store: Store, tmp_path: Path) -> None:
    run = replace(a_run(), revisits=(revisit(a_run()),))
    assert load_run(store, begin_run(store, run, fresh=False).id) == run
    file = tmp_path / "pin.evidence.jsonl.zst"
    file.write_bytes(evidence_bytes(run))
    read = read_evidence(file).revisits
    assert read == reduced(run).revisits
    assert all(len(visit.sample_us) == 1 for _, cell in read[0].under for visit in cell.visits)
