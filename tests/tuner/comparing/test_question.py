"""What one side of a comparison may have for itself, and what it may not."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from tuner.comparing.env import env_of
from tuner.comparing.question import refuse_other_questions
from tuner.comparing.side import settings_for
from tuner.errors import UsageError
from tuner.settings import Settings

SIMULATED = ("gpu=simulated", "model=qwen3_8b")


@cache
def side(said: str, *words: str) -> Settings:
    return settings_for(env_of(said), words or SIMULATED, None)


@pytest.mark.parametrize(
    "said",
    [
        "present",
        "flashinfer-python==0.6.1",
        "/opt/python",
        "with:engine.version=0.5.16 gpu.simulated.noise.visit_pct=3 gpu.simulated.seed=4",
    ],
)
def test_what_serves_may_differ(said: str) -> None:
    refuse_other_questions(side("present"), side(said))


def test_a_file_with_traffic_is_the_same_question_on_both_sides_unless_its_content_differs(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("one.csv", "two.csv")]
    for length, file in enumerate(files, start=500):
        file.write_text(f"prompt_tokens,output_tokens\n{length},20\n")
    asked = ((*SIMULATED, "traffic=trace", f"traffic.path={file}") for file in (files[0], *files))
    first, again, other = (settings_for(env_of("present"), words, None) for words in asked)
    refuse_other_questions(first, again)
    with pytest.raises(UsageError, match="^with: changes traffic"):
        refuse_other_questions(first, other)


@pytest.mark.parametrize(
    ("setting", "named"),
    [
        ("traffic=rag", "traffic"),
        ("measure=release", "measure"),
        ("gpu=h200", "gpu"),
        ("engine.page_size=64", "engine.page_size"),
        ("backend=[fa3]", "backend"),
        ("fresh=true", "what is no part of an environment"),
    ],
)
def test_what_is_asked_may_not_differ_from_one_side_to_the_other(setting: str, named: str) -> None:
    for sides in ((side("present"), side(f"with:{setting}")), (side(f"with:{setting}"), side("present"))):
        with pytest.raises(UsageError, match=f"^with: changes {named} for one side alone"):
            refuse_other_questions(*sides)


def test_folders_are_refused_where_no_kernel_runs() -> None:
    with pytest.raises(UsageError, match="path: changes nothing on a simulated GPU"):
        refuse_other_questions(side("present"), side("path:/opt/overlay"))
    refuse_other_questions(side("present", "model=tiny"), side("path:/opt/overlay", "model=tiny"))
