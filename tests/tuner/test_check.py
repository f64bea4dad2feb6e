from __future__ import annotations

from dataclasses import replace

import pytest

from backends.environment import Board, Distribution
from store.runs.run import Run
from store.verdicts.verdict import Status, Verdict
from tests.tuner.building import one_cell_each
from tuner.check import imports_under, verdict
from tuner.decide import decide
from tuner.pin import pin_of

NAMES = ("torch", "triton", "flashinfer-python", "sgl-kernel", "wave")
IMPORTS = (("torch", "torch"), ("triton", "triton"), ("fa3", "sgl-kernel"), ("flashinfer", "flashinfer-python"), ("wave", "wave"))
SLOWER = {"fa3": (500.0, 100.0), "flashinfer": (500.0, 50.0), "wave": (900.0, 900.0)}
PROCESSOR = Board("cpu", "AMD EPYC", None, None, 1 << 36, None, None, None)


def decided() -> Run:
    """FlashInfer decodes, FA3 was the default, Wave lost."""
    run = one_cell_each(SLOWER)
    found = tuple(Distribution(name, "1.0", f"{index}" * 64) for index, name in enumerate(NAMES))
    run = replace(run, environment=replace(run.environment, distributions=found, imports=IMPORTS))
    return replace(run, decision=decide(run))


RUN = decided()
assert RUN.decision is not None
PIN = pin_of(RUN, RUN.decision, ("pin.evidence.jsonl.zst", "00"))
THEN = RUN.environment


def now(**changes: object) -> Verdict:
    """The verdict in the environment of then, changed."""
    return verdict(PIN, RUN, replace(THEN, **changes))  # type: ignore[arg-type]


def with_distribution(name: str, version: str, digest: str = "f" * 64) -> tuple[Distribution, ...]:
    others = tuple(found for found in THEN.distributions if found.name != name)
    return (*others, Distribution(name, version, digest))


def touched(found: Verdict) -> dict[str, tuple[str, ...]]:
    return {change.what: change.touches for change in found.changes}


def test_nothing_changed_is_unchanged() -> None:
    found = now()
    assert (found.status, found.exit_code, found.changes) == (Status.UNCHANGED, 0, ())
    assert found.sentence == "nothing the pin rests on has changed: it holds as measured"


ALL = ("fa3/p1", "flashinfer/p1", "wave/p1")


@pytest.mark.parametrize(
    ("name", "touches"),
    [("flashinfer-python", ("flashinfer/p1",)), ("sgl-kernel", ("fa3/p1",)), ("torch", ALL), ("triton", ALL)],
)
def test_an_upgrade_touches_the_arms_that_use_it(name: str, touches: tuple[str, ...]) -> None:
    found = now(distributions=with_distribution(name, "1.1"))
    assert (found.status, found.exit_code) == (Status.CHANGED, 3)
    assert touched(found) == {name: touches}
    assert found.sentence == f"{name} changed under the pin: whether it still holds needs measuring, run attnpin check without --fast"
    assert (found.changes[0].before, found.changes[0].after) == (f"1.0 ({str(NAMES.index(name)) * 12})", "1.1 (ffffffffffff)")


@pytest.mark.parametrize(
    ("change", "before", "after"), [("1.1", "1.0 (ffffffffffff)", "1.1 (ffffffffffff)"), (None, "1.0 (ffffffffffff)", None)]
)
def test_a_library_that_an_arm_takes_where_it_is_there_touches_it_by_moving_and_by_going(
    change: str | None, before: str, after: str | None
) -> None:
    owner = ("flash_attn", "flash-attn-4")
    there = replace(THEN, distributions=with_distribution("flash-attn-4", "1.0"), imports=(*IMPORTS, owner))
    arms = tuple(replace(arm, optional=("flash_attn",)) if arm.backend == "fa3" else arm for arm in RUN.arms)
    run = replace(RUN, arms=arms, environment=there)
    assert run.decision is not None
    pin = pin_of(run, run.decision, ("pin.evidence.jsonl.zst", "00"))
    here = THEN if change is None else replace(there, distributions=with_distribution("flash-attn-4", change))
    (found,) = verdict(pin, run, here).changes
    assert (found.what, found.before, found.after, found.touches) == ("flash-attn-4", before, after, ("fa3/p1",))


def test_another_build_of_the_same_version_is_a_change() -> None:
    assert touched(now(distributions=with_distribution("sgl-kernel", "1.0"))) == {"sgl-kernel": ("fa3/p1",)}


def test_an_upgrade_of_what_only_a_loser_used_is_none_under_the_pin() -> None:
    assert now(distributions=with_distribution("wave", "2.0")).status is Status.UNCHANGED


def test_a_distribution_that_went_is_a_change() -> None:
    found = now(distributions=tuple(each for each in THEN.distributions if each.name != "flashinfer-python"))
    assert [(change.what, change.after) for change in found.changes] == [("flashinfer-python", None)]


def test_a_companion_that_came_is_a_change_of_the_arms_it_serves() -> None:
    found = now(
        distributions=with_distribution("flashinfer-jit-cache", "0.6.14"), imports=(("flashinfer", "flashinfer-jit-cache"), *THEN.imports)
    )
    assert [(change.what, change.before, change.touches) for change in found.changes] == [
        ("flashinfer-jit-cache", None, ("flashinfer/p1",))
    ]


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"python": "3.13.1"}, "Python"),
        ({"cuda": "13.1"}, "CUDA"),
        ({"board": replace(THEN.board, driver="590.1")}, "driver"),
        ({"board": replace(THEN.board, power_limit_w=500.0)}, "power limit"),
        ({"variables": (("CUDA_LAUNCH_BLOCKING", "1"),)}, "CUDA_LAUNCH_BLOCKING"),
    ],
)
def test_a_change_below_the_libraries_touches_every_arm(change: dict[str, object], what: str) -> None:
    found = now(**change)
    assert (found.status, found.exit_code, touched(found)) == (Status.CHANGED, 3, {what: ("every arm",)})


@pytest.mark.parametrize(
    ("board", "what"),
    [
        (replace(THEN.board, name="NVIDIA L4", sm=89), "GPU"),
        (replace(THEN.board, memory_bytes=80 << 30), "memory"),
        (replace(THEN.board, mig="1g.18gb"), "MIG slice"),
    ],
)
def test_on_another_board_the_pin_says_nothing(board: Board, what: str) -> None:
    found = now(board=board)
    assert (found.status, found.exit_code) == (Status.INCOMPARABLE, 3)
    assert touched(found) == {what: ("every arm",)} and "measured on another board (NVIDIA H200)" in found.sentence


def test_a_pin_for_a_gpu_is_checked_on_a_machine_without_one_as_far_as_that_goes() -> None:
    here = now(board=PROCESSOR, variables=(("OMP_NUM_THREADS", "2"),))  # which changes nothing on a GPU
    assert here.status is Status.UNCHANGED and here.sentence.endswith("(no GPU is visible here, so the board was not compared)")
    upgraded = now(board=PROCESSOR, distributions=with_distribution("flashinfer-python", "2.0"))
    assert upgraded.status is Status.CHANGED and set(touched(upgraded)) == {"flashinfer-python"}


def test_a_pin_for_a_processor_says_nothing_on_a_gpu() -> None:
    on_processor = replace(PIN, valid_for=replace(PIN.valid_for, gpu=PROCESSOR.name, sm=None))
    assert verdict(on_processor, RUN, THEN).status is Status.INCOMPARABLE


def test_what_is_looked_for_are_the_packages_of_all_arms_and_the_engine() -> None:
    assert set(imports_under(RUN)) == {"sglang", "torch", "triton", "fa3", "flashinfer", "wave"}


CHECKPOINT = replace(RUN.scenario.model, name="my_8b", config_sha256="a" * 64)
OF_CHECKPOINT = replace(PIN, valid_for=replace(PIN.valid_for, model="my_8b", model_config="a" * 64))


def test_a_checkpoint_whose_configuration_is_as_it_was_is_unchanged() -> None:
    found = verdict(OF_CHECKPOINT, RUN, THEN, CHECKPOINT)
    assert (found.status, found.sentence) == (Status.UNCHANGED, "nothing the pin rests on has changed: it holds as measured")


def test_another_configuration_under_the_same_name_is_a_change() -> None:
    found = verdict(OF_CHECKPOINT, RUN, THEN, replace(CHECKPOINT, config_sha256="b" * 64))
    [change] = found.changes
    assert (found.status, found.exit_code) == (Status.CHANGED, 3)
    assert (change.what, change.before, change.after, change.touches) == ("config.json", "a" * 12, "b" * 12, ("every arm",))


def test_a_configuration_that_nobody_looked_at_is_said_to_be_not_compared() -> None:
    found = verdict(OF_CHECKPOINT, RUN, THEN)
    assert found.status is Status.UNCHANGED
    assert found.sentence.endswith("(the model's config.json was not compared: name it with model=hf model.path=CHECKPOINT)")


def test_an_early_pin_of_a_checkpoint_is_compared_by_its_name() -> None:
    early = replace(OF_CHECKPOINT, valid_for=replace(OF_CHECKPOINT.valid_for, model_config=None))
    assert verdict(early, RUN, THEN, CHECKPOINT).status is Status.UNCHANGED
    assert touched(verdict(early, RUN, THEN, replace(CHECKPOINT, name="other"))) == {"model": ("every arm",)}


@pytest.mark.parametrize(
    ("then", "there", "said"),
    [
        ("a@sha256:1", "a@sha256:1", None),
        (".../a.sif", "/images/a.sif", None),  # as a pin keeps it
        (None, "a@sha256:1", None),  # an early pin, or one made where nobody named the image
        ("a@sha256:1", "a@sha256:2", "the image is a@sha256:2 instead of a@sha256:1: what the pin rests on"),
        ("a@sha256:1", None, "the image was not compared: name it in ATTNPIN_IMAGE where the worker runs"),
    ],
)
def test_another_image_with_the_same_contents_holds_and_is_named(then: str | None, there: str | None, said: str | None) -> None:
    pin = replace(PIN, valid_for=replace(PIN.valid_for, image=then))
    found = verdict(pin, RUN, replace(RUN.environment, image=there))
    assert (found.status, found.exit_code) == (Status.UNCHANGED, 0)
    assert ("image" in found.sentence) is (said is not None) and (said or "") in found.sentence
