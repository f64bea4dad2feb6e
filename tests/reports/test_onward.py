from __future__ import annotations

import shlex

import pytest

from reports import onward

TYPED = shlex.join(
    [
        *(
            "attnpin",
            "tune",
            "model=qwen3_8b",
            "gpu=simulated",
            "gpu.simulated.faults=[{kind: nans, backend: fa3}]",
            "--config-dir",
            "my conf",
        ),
        *(
            "engine.command=[docker,run,-i,IMAGE,python3]",
            "+engine.path=[/opt/x]",
            "store.url=postgresql://bob:pw@db/a",
            "pin.path='x y.yaml'",
        ),
        *("fresh=true", "--without-default", "wait_for_gpu=2h", "decide.objective=tpot"),
    ]
)
PLACE = (
    *("gpu=simulated", "gpu.simulated.faults=[{kind: nans, backend: fa3}]", "engine.command=[docker,run,-i,IMAGE,python3]"),
    *("+engine.path=[/opt/x]", "--config-dir", "my conf"),
)


def test_a_pin_is_found_where_its_arms_ran() -> None:
    assert onward.place(TYPED) == PLACE


def test_a_run_is_found_where_it_is_stored_and_no_password_is_repeated() -> None:
    assert onward.store(TYPED) == ("store.url=postgresql://bob:pw@db/a",)
    assert onward.command("attnpin", "report", *onward.store(TYPED)) == "attnpin report store.url=postgresql://bob:***@db/a"
    assert ":pw@" not in onward.again(TYPED, about="goes on")


def test_the_question_is_asked_again_without_what_was_wished_of_that_one_answer() -> None:
    asked = onward.scenario(TYPED)
    assert {"model=qwen3_8b", "decide.objective=tpot", *PLACE} <= set(asked)
    assert not [word for word in asked if word.startswith(("fresh", "pin.", "wait_for", "--without"))]
    assert onward.question(TYPED) == ("model=qwen3_8b", "decide.objective=tpot")


def test_what_is_put_together_is_one_line_for_a_shell_with_a_comment() -> None:
    line = onward.command("attnpin", "check", *PLACE, about="after an upgrade")
    assert shlex.split(line, comments=True) == ["attnpin", "check", *PLACE]


@pytest.mark.parametrize("typed", ["", "attnpin", "attnpin tune", "attnpin tune model='qwen3_8b"])
def test_of_a_line_that_says_nothing_or_cannot_be_read_nothing_is_kept(typed: str) -> None:
    assert (onward.place(typed), onward.store(typed), onward.scenario(typed)) == ((), (), ())


def test_a_setting_that_is_no_more_is_not_asked_for_again() -> None:
    typed = "attnpin tune model=qwen3_8b measure.timing.trial_limit_s=60 measure.timing.build_limit_s=600 measure.timing.blocks=3"
    assert onward.question(typed) == ("model=qwen3_8b", "measure.timing.blocks=3")
