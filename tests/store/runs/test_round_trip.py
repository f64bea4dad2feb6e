from __future__ import annotations

import dataclasses
import itertools
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.arm import Arm, Provider
from backends.cell import Cell, Phase
from backends.measured import CellRound, Conditions, Cost, Identity, KernelNode, Round, Soundness, Trial, Visit
from backends.outcome import Outcome
from backends.reason import Reason
from backends.serving_jit import Builds, ServingJit
from store.boards.calibration import NoiseFloor
from store.database.connect import open_store
from store.engines.serving_terms import ServingTerms
from store.evidence.run_evidence import evidence_bytes, public, read_evidence, reduced
from store.runs.repository import begin_run, load_run
from store.runs.round_rows import pack, unpack
from store.runs.run import Run
from store.scenario import Exclusion, WeightedCell
from tests.store.building import LAYER, a_decision, a_run

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)
REAL = st.floats(allow_nan=False, allow_infinity=False)
TIME = st.floats(min_value=1e-3, max_value=1e9)
COUNT = st.integers(0, 2**62)
MAYBE_REAL, MAYBE_COUNT = st.none() | REAL, st.none() | COUNT
SECONDS = st.dictionaries(TEXT, REAL, max_size=3).map(lambda found: tuple(found.items()))

TEXTS = st.lists(TEXT, max_size=2).map(tuple)
NAMED = st.lists(st.tuples(TEXT, TEXT), max_size=2).map(tuple)
AXES = st.tuples(*(st.integers(1, 2**31 - 1),) * 3)
NODE = st.builds(KernelNode, TEXT, AXES, AXES, COUNT, st.lists(COUNT, max_size=3).map(tuple))
SPAN = st.none() | st.tuples(REAL, REAL)
CONDITIONS = st.builds(Conditions, COUNT, SPAN, SPAN, SPAN, SPAN, SPAN, st.none() | st.integers(0, 2**16))


def names(limit: int) -> st.SearchStrategy[list[str]]:
    return st.lists(st.text("abz/,=", min_size=1, max_size=6), min_size=1, max_size=limit, unique=True)


@st.composite
def cells(draw: Any) -> tuple[WeightedCell, ...]:
    def cell(name: str) -> Cell:
        contexts = tuple(draw(st.lists(st.integers(1, 10**6), min_size=1, max_size=3)))
        return Cell(name, Phase.DECODE, LAYER, contexts, (1,) * len(contexts), contexts, 4, "bfloat16", draw(COUNT))

    return tuple(WeightedCell(cell(name), draw(st.integers(1, 99)), draw(REAL), draw(REAL)) for name in draw(names(2)))


@st.composite
def trials(draw: Any, arm: str, cell: str) -> Trial:
    reals = ("relative_error", "needle_error", "bandwidth_bytes_per_s", "build_s", "rms_error", "open_s", "first_call_s")
    numbers = {name: draw(MAYBE_REAL) for name in reals}
    numbers |= {name: draw(MAYBE_COUNT) for name in ("peak_memory_bytes", "workspace_bytes", "graph_bytes")}
    numbers |= {"slots": draw(st.none() | st.integers(0, 2**31 - 1))}
    numbers |= {"kernel_files": draw(st.none() | NAMED), "autotuned": draw(NAMED), "labels": draw(TEXTS)}
    numbers |= {"probed_in": draw(st.none() | st.just("r0"))}
    numbers |= {"soundness": draw(st.none() | st.builds(Soundness, MAYBE_REAL, MAYBE_REAL, MAYBE_REAL))}
    outcome = draw(st.sampled_from(Outcome))
    if outcome is not Outcome.MEASURED:
        return Trial(arm, cell, outcome, "why: " + draw(TEXT), **numbers)
    identity = Identity(draw(TEXT), draw(TEXT), draw(TEXTS), draw(st.lists(NODE, max_size=2).map(tuple)))
    return Trial(arm, cell, outcome, None, identity, Cost(draw(REAL), draw(MAYBE_REAL), draw(REAL), draw(REAL)), **numbers)


@st.composite
def rounds(draw: Any, index: int, arms: list[str], cell_names: list[str]) -> Round:
    def cell_round(cell: str) -> CellRound:
        samples = st.lists(TIME, min_size=1, max_size=4).map(tuple)
        rows = st.one_of(st.just(()), samples)
        of_visits = st.builds(Visit, st.integers(0, 9), st.integers(0, 9), st.sampled_from(arms), samples, MAYBE_REAL, MAYBE_REAL, rows)
        visits = tuple(draw(st.lists(of_visits, max_size=3)))
        metadata = tuple((arm, draw(REAL), draw(REAL)) for arm in arms)
        launches, first_call_s = (tuple((arm, draw(each)) for arm in arms) for each in (st.integers(1, 99), REAL))
        told = (draw(NAMED), draw(MAYBE_REAL), draw(st.none() | CONDITIONS), draw(TEXTS))
        return CellRound(cell, launches, visits, metadata, draw(st.booleans()), first_call_s, *told)

    whole = tuple(map(cell_round, draw(st.permutations(cell_names))))
    return Round(
        index, draw(COUNT), whole, draw(SECONDS), draw(TEXTS), draw(st.booleans()), draw(st.booleans()), draw(st.none() | st.just("GPU-1"))
    )


@st.composite
def terms(draw: Any, arm: str) -> ServingTerms:
    jit = ServingJit(draw(st.sampled_from(Builds)), draw(TEXT), draw(TEXT))
    return ServingTerms(arm, draw(MAYBE_COUNT), draw(REAL), tuple(draw(st.lists(TEXT, max_size=2))), draw(st.sampled_from([None, jit])))


@st.composite
def runs(draw: Any) -> Run:
    backends = draw(names(3))
    arms = tuple(Arm(name, draw(st.sampled_from(Provider)), "m:C", 1, "bfloat16", (), ((draw(TEXT), draw(TEXT)),)) for name in backends)
    weighted = draw(cells())
    arm_names, cell_names = [arm.name for arm in arms], [cell.cell.name for cell in weighted]
    pairs = draw(st.lists(st.sampled_from(list(itertools.product(arm_names, cell_names))), max_size=4, unique=True))
    indices = sorted(draw(st.sets(st.integers(0, 99), max_size=2)))
    reason = Reason(*(draw(TEXT) for _ in dataclasses.fields(Reason)))
    run = dataclasses.replace(
        a_run(draw(st.text("abc123", min_size=1))),
        arms=arms,
        cells=weighted,
        exclusions=(Exclusion(draw(TEXT), draw(st.none() | TEXT), (reason,)),),
        trials=tuple(draw(trials(arm, cell)) for arm, cell in pairs),
        rounds=tuple(draw(rounds(index, arm_names, cell_names)) for index in indices),
        wall_seconds=draw(SECONDS),
        engine_version=draw(st.none() | TEXT),
        terms=tuple(draw(terms(name)) for name in arm_names),
        left_out=tuple(draw(st.lists(TEXT, max_size=2))),
        noise_floor=draw(st.none() | st.builds(NoiseFloor, REAL, TEXT, TEXT)),
    )
    return dataclasses.replace(run, decision=a_decision(run) if draw(st.booleans()) else None)


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A database with nothing in it, as a file."""
    path = tmp_path_factory.mktemp("empty") / "a.sqlite"
    open_store(f"sqlite:///{path}")
    return path.read_bytes()


@settings(max_examples=60, deadline=None)
@given(run=runs())
def test_any_run_comes_back_from_the_store_as_it_was(tmp_path_factory: Any, empty: bytes, run: Run) -> None:
    path: Path = tmp_path_factory.mktemp("store") / "a.sqlite"
    path.write_bytes(empty)
    store = open_store(f"sqlite:///{path}")
    begin_run(store, run, fresh=True)
    assert load_run(store, run.id) == run


@settings(max_examples=60, deadline=None)
@given(run=runs())
def test_any_run_comes_back_from_its_evidence_as_it_was_made_public(tmp_path_factory: Any, run: Run) -> None:
    path: Path = tmp_path_factory.mktemp("evidence") / "pin.evidence.jsonl.zst"
    path.write_bytes(evidence_bytes(run))
    assert read_evidence(path) == public(run)


@settings(deadline=None)
@given(run=runs())
def test_to_reduce_twice_is_to_reduce_once(run: Run) -> None:
    assert reduced(reduced(run)) == reduced(run)


@given(st.lists(st.floats(), max_size=9))
def test_samples_keep_every_bit(samples: list[float]) -> None:
    kept = unpack(pack(tuple(samples)))
    assert [math.copysign(1, value) for value in kept] == [math.copysign(1, value) for value in samples]
    assert [value.hex() for value in kept] == [value.hex() for value in samples]
